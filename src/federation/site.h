// A site's folder: key.pem, peer.toml, NAME.member, the federation file that it joined, and run/. Making one,
// opening it, joining a federation and leaving it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "federation/federation_file.h"
#include "federation/site_settings.h"
#include "network/tls/identity.h"

namespace dfrost {

struct Site {
  std::filesystem::path folder;
  SiteSettings settings;
  PrivateKey key;
  std::optional<Federation> federation;
  bool left = false;  // `dfrost peer leave`: it takes part no more until it joins again

  // Throws (failed_precondition, with the command to run) where it has not joined, or has left.
  const Federation& joined() const;
  const Member& self() const;  // its own entry there
  ClientId number() const { return self().number; }
  std::filesystem::path run_folder() const { return folder / "run"; }
  // The experiment with what is this site's own: threads, where its data and its model lie.
  RunConfig config() const;
};

std::filesystem::path key_file(const std::filesystem::path& site);
std::filesystem::path settings_file(const std::filesystem::path& site);
std::filesystem::path joined_file(const std::filesystem::path& site);
std::filesystem::path left_file(const std::filesystem::path& site);

// Makes the folder with a new key, peer.toml and NAME.member. Refuses (invalid_argument) one that has any of
// them. Returns the member file's path.
std::filesystem::path make_site(const std::filesystem::path& folder, const SiteSettings& settings);

Site open_site(const std::filesystem::path& folder);
SiteSettings load_site_settings(const std::filesystem::path& folder);
// The founder needs no more than this of a site.
PrivateKey load_site_key(const std::filesystem::path& folder);

// Whether something was learnt there, which must not be mixed with another federation.
bool has_run(const Site& site);

// That this site may join: its key is a member's, and where it has joined before, the file follows that one.
// Throws (failed_precondition, permission_denied) with what to do.
void check_joinable(const Site& site, const Federation& federation);
// Copies the file in, byte by byte. Check first. Fails (failed_precondition) while a process runs the site.
void join_federation(const Site& site, std::string_view text);

// Throws (failed_precondition) while a process runs the site, and where there is nothing to leave.
void leave_federation(const Site& site);

// "7f3a 91c2…" or "7F3A-91C2-…", as people type it → as it is printed.
bool same_fingerprint(std::string_view typed, std::string_view printed);

}  // namespace dfrost

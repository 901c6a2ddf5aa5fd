#include "federation/site.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "dfrost/error.h"
#include "federation/revision.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestSettings = 1u << 20;

[[noreturn]] void not_now(const std::string& message, std::string hint) {
  throw Error(ErrorCode::failed_precondition, message, std::move(hint));
}

void refuse_existing(const fs::path& file) {
  if (!fs::exists(file)) return;
  throw Error(ErrorCode::invalid_argument, "there is a site already, and its key is never replaced",
              "name another folder; to begin anew, move this one away")
      .at(file.string());
}

void require_folder(const fs::path& folder) {
  if (fs::is_directory(folder)) return;
  throw Error(ErrorCode::not_found, "there is no such site",
              fmt::format("'dfrost peer init {}' makes one", folder.string()))
      .at(folder.string());
}

// A process that runs the site holds it.
void require_stopped(const Site& site) {
  try {
    const FolderLock lock(site.folder);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::failed_precondition) throw;
    throw Error(error.code(), "a process is running this site", "stop 'dfrost peer start' first, by Ctrl-C")
        .at(site.folder.string());
  }
}

}  // namespace

fs::path key_file(const fs::path& site) { return site / "key.pem"; }
fs::path settings_file(const fs::path& site) { return site / "peer.toml"; }
fs::path joined_file(const fs::path& site) { return site / "federation"; }
fs::path left_file(const fs::path& site) { return site / "left"; }

const Federation& Site::joined() const {
  if (left)
    not_now("this site has left its federation",
            fmt::format("'dfrost peer join {} FILE' takes part again", folder.string()));
  if (!federation)
    not_now("this site has not joined a federation",
            fmt::format("'dfrost peer join {} FILE' with the file that the founder sent", folder.string()));
  return *federation;
}

const Member& Site::self() const {
  const Member* member = joined().find(key.fingerprint());
  if (member == nullptr)
    not_now("this site's key is not in the federation that it joined",
            "was key.pem replaced? use its backup");
  return *member;
}

RunConfig Site::config() const {
  RunConfig config = joined().config(settings.data_root);
  config.run.threads = settings.threads;
  config.data.root = settings.data_root;
  if (!settings.backbone.empty()) config.backbone.path = settings.backbone;
  return config;
}

fs::path make_site(const fs::path& folder, const SiteSettings& settings) {
  fs::path member = folder / (settings.name + ".member");
  // What is wrong with the settings shows before anything is made.
  parse_site_settings(to_toml(settings), "the options", folder);
  for (const auto& file : {key_file(folder), settings_file(folder), member}) refuse_existing(file);
  fs::create_directories(folder);
  const PrivateKey key = PrivateKey::generate();
  key.save(key_file(folder));
  write_file_atomically(settings_file(folder), to_toml(settings));
  write_file_atomically(member, member_text(settings.name, settings.address, key));
  return member;
}

SiteSettings load_site_settings(const fs::path& folder) {
  const fs::path file = settings_file(folder);
  return parse_site_settings(read_text_file(file, kLargestSettings), file.string(), folder);
}

PrivateKey load_site_key(const fs::path& folder) {
  require_folder(folder);
  return PrivateKey::load(key_file(folder));
}

Site open_site(const fs::path& folder) {
  PrivateKey key = load_site_key(folder);
  Site site{.folder = folder,
            .settings = load_site_settings(folder),
            .key = std::move(key),
            .federation = std::nullopt,
            .left = fs::exists(left_file(folder))};
  if (fs::exists(joined_file(folder))) site.federation = load_federation(joined_file(folder));
  return site;
}

bool has_run(const Site& site) {
  std::error_code absent;
  return fs::exists(site.run_folder(), absent) && !fs::is_empty(site.run_folder(), absent);
}

void check_joinable(const Site& site, const Federation& federation) {
  if (federation.find(site.key.fingerprint()) == nullptr) {
    throw Error(ErrorCode::permission_denied,
                fmt::format("this site's key is not among the members of {}", federation.name),
                fmt::format("send {}.member to the founder, who adds it", site.settings.name));
  }
  if (!site.federation) return;
  const Federation& before = *site.federation;
  switch (succession(before, federation)) {
    case Succession::same:
    case Succession::follows: return;
    case Succession::older:
      not_now(fmt::format("this is revision {}, and the site has joined revision {}", federation.revision,
                          before.revision),
              "ask the founder for the last one");
    case Succession::forked:
      not_now(fmt::format("revision {} does not follow revision {} that this site has joined",
                          federation.revision, before.revision),
              "two files were made of one: ask the founder which one counts");
    case Succession::stranger: break;
  }
  if (has_run(site))
    not_now(fmt::format("this site takes part in another federation, {}, and has learnt in it", before.name),
            "make another site for this one with 'dfrost peer init', or move its folder 'run' away");
}

void join_federation(const Site& site, std::string_view text) {
  require_stopped(site);
  write_file_atomically(joined_file(site.folder), text);
  fs::remove(left_file(site.folder));
}

void leave_federation(const Site& site) {
  static_cast<void>(site.joined());
  require_stopped(site);
  write_file_atomically(left_file(site.folder),
                        fmt::format("{}\n'dfrost peer join' takes part again.\n", site.joined().name));
}

bool same_fingerprint(std::string_view typed, std::string_view printed) {
  const auto digits = [](std::string_view text) {
    std::string all;
    for (const char c : lower_case(text)) {
      if (c != '-' && c != ' ') all += c;
    }
    return all;
  };
  return digits(typed) == digits(printed);
}

}  // namespace dfrost

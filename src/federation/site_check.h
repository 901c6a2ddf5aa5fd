// `dfrost peer check`: all that a site needs before it can start, looked at one by one. A problem is a value
// here, so that one does not hide the next.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace dfrost {

enum class Finding {
  good,
  note,             // worth knowing, no harm
  file_problem,     // something on this machine
  network_problem,  // something between the sites
};
std::string_view to_string(Finding finding);  // "good", "note", "file", "network"

struct SiteCheck {
  std::string subject = {};  // "key", "member clinic-b"
  Finding finding = Finding::good;
  std::string what = {};
  std::string hint = {};  // what to do about it
};

struct SiteCheckOptions {
  double timeout_seconds = 5;  // for each member, all at once
};

std::vector<SiteCheck> check_site(const std::filesystem::path& folder, const SiteCheckOptions& options = {});

}  // namespace dfrost

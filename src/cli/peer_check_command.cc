// `dfrost peer check`: a table of ticks and what to do.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "dfrost/error.h"
#include "federation/site_check.h"

namespace dfrost::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PeerCheckArguments {
  std::string site;
  SiteCheckOptions options;
  bool json = false;
};

const char* tick(Finding finding) {
  switch (finding) {
    case Finding::good: return "✓";
    case Finding::note: return "·";
    default: return "✗";
  }
}

bool is_problem(const SiteCheck& check) {
  return check.finding == Finding::file_problem || check.finding == Finding::network_problem;
}

void print_checks(const std::vector<SiteCheck>& checks) {
  std::size_t width = 0;
  for (const auto& check : checks) width = std::max(width, check.subject.size());
  for (const auto& check : checks) {
    fmt::print("{} {:<{}}  {}\n", tick(check.finding), check.subject, width, check.what);
    if (!check.hint.empty()) fmt::print("  {:<{}}  → {}\n", "", width, check.hint);
  }
}

void print_checks_json(const std::string& site, const std::vector<SiteCheck>& checks) {
  Json list = Json::array();
  for (const auto& check : checks)
    list.push_back({{"subject", check.subject},
                    {"finding", to_string(check.finding)},
                    {"what", check.what},
                    {"hint", check.hint}});
  print_json({{"site", site}, {"ready", std::ranges::none_of(checks, is_problem)}, {"checks", list}});
}

void check(const PeerCheckArguments& arguments) {
  const auto checks = check_site(arguments.site, arguments.options);
  arguments.json ? print_checks_json(arguments.site, checks) : print_checks(checks);
  const auto problems = std::ranges::count_if(checks, is_problem);
  if (problems == 0) return;
  std::fflush(stdout);
  const bool network_only =
      std::ranges::none_of(checks, [](const auto& check) { return check.finding == Finding::file_problem; });
  throw Error(network_only ? ErrorCode::unavailable : ErrorCode::data_loss,
              fmt::format("{} of {} checks failed", problems, checks.size()),
              network_only
                  ? "a member that is not started yet is not reached either: the others may start later"
                  : "");
}

}  // namespace

void add_peer_check_command(CLI::App& peer) {
  auto* command = add_command(
      peer, "check", "All that a site needs before it starts; dials every member.",
      {"dfrost peer check site    exit code 0: all good, 3: something here, 4: only the network"});
  auto arguments = std::make_shared<PeerCheckArguments>();
  command->add_option("site", arguments->site, "The site's folder")->required();
  command->add_option("--timeout", arguments->options.timeout_seconds, "Seconds to wait for a member")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { check(*arguments); });
}

}  // namespace dfrost::cli

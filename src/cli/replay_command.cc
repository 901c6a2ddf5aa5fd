// `dfrost replay`: what several sites did, computed once more in one process.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "dfrost/error.h"
#include "peer/replay.h"

namespace dfrost::cli {
namespace {

struct ReplayArguments {
  std::vector<std::string> sites;
  bool json = false;
};

class ReplayNotes final : public RunNotes {
 public:
  void on_note(const std::string&) override {}  // said when the sites ran
  void on_warning(const std::string& what, const std::string& hint) override { tell_warning(what, hint); }
};

nlohmann::ordered_json to_json(const ReplayedSite& site) {
  return {{"name", site.name},      {"number", site.number},       {"folder", site.folder.string()},
          {"rounds", site.rounds},  {"trained", site.trained},     {"missed", site.missed},
          {"jumps", site.jumps},    {"adoptions", site.adoptions}, {"same", site.same},
          {"problem", site.problem}};
}

void print_replay(const Replay& replay) {
  std::size_t width = 4;
  for (const auto& site : replay.sites) width = std::max(width, site.name.size());
  fmt::print("{:<{}}  {:>6}  {:>7}  {:>6}  {:>5}  {:>7}  {}\n", "site", width, "rounds", "trained", "missed",
             "jumps", "adopted", "state");
  for (const auto& site : replay.sites)
    fmt::print("{:<{}}  {:>6}  {:>7}  {:>6}  {:>5}  {:>7}  {}\n", site.name, width, site.rounds, site.trained,
               site.missed, site.jumps, site.adoptions, site.same ? "the same bytes" : site.problem);
}

void replay(const ReplayArguments& arguments) {
  ReplayNotes notes;
  const auto result = replay_sites({arguments.sites.begin(), arguments.sites.end()}, notes);
  if (arguments.json) {
    nlohmann::ordered_json sites = nlohmann::ordered_json::array();
    for (const auto& site : result.sites) sites.push_back(to_json(site));
    print_json({{"same", result.same()},
                {"comparable", result.comparable()},
                {"processors", result.processors},
                {"sites", sites}});
  } else {
    print_replay(result);
  }
  if (result.same()) return;
  if (!result.comparable())
    throw Error(
        ErrorCode::unimplemented,
        "the sites and this machine have different processors, which round the last bits differently: their "
        "states cannot be compared byte by byte",
        "replay on a machine like theirs; experiments of sites of one kind are the same everywhere");
  throw Error(ErrorCode::failed_precondition, "a site's state is not what its recorded letters lead to",
              "were its records or pictures changed, or was it run by another version of dfrost?");
}

}  // namespace

void add_replay_command(CLI::App& app) {
  auto* command = add_command(
      app, "replay", "Compute what several sites did once more, from who heard whom: the same bytes?",
      {"dfrost replay clinic-a clinic-b clinic-c     the folders of all sites",
       "dfrost replay try/site-* --json"});
  auto arguments = std::make_shared<ReplayArguments>();
  command->add_option("site", arguments->sites, "Folders of sites, of all that were heard")->required();
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { replay(*arguments); });
}

}  // namespace dfrost::cli

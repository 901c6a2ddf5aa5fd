// `dfrost run`: a whole federation on one machine.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>

#include "base/file.h"
#include "base/json.h"
#include "cli/backbone_path.h"
#include "cli/command.h"
#include "cli/report_files.h"
#include "cli/run_display.h"
#include "cli/run_on_ranks.h"
#include "cli/terminal.h"
#include "config/toml_file.h"
#include "dfrost/error.h"
#include "network/mpi/communicator.h"
#include "network/mpi/launcher.h"
#include "records/record_json.h"
#include "run/run.h"

namespace dfrost::cli {
namespace {

constexpr const char* kUsualRuns = "runs";

struct RunArguments {
  std::string config;
  std::vector<std::string> overrides;
  std::string runs = kUsualRuns;
  bool resume = false;
  bool start_over = false;
  bool quiet = false;
  bool json = false;
  bool no_report = false;
};

void print_closing_table(const RunResult& result, const std::filesystem::path& folder,
                         const std::string& report) {
  const auto& seconds = result.totals.seconds;
  const auto line = [](std::string_view name, const std::string& value) {
    fmt::print("{:<20}{}\n", name, value);
  };
  if (result.last.round == 0 && !result.last.evaluation) {
    fmt::print("all rounds were done already; raise run.rounds to go on\n");
    return line("records", folder.string());
  }
  if (const auto& e = result.last.evaluation) {
    const auto spread = [](const Spread& s) {
      return fmt::format("{:.2f} % ± {:.2f} over clients ({:.2f} to {:.2f})", 100 * s.mean, 100 * s.std,
                         100 * s.min, 100 * s.max);
    };
    line("accuracy, masked", spread(e->accuracy_masked));
    line("accuracy, unmasked", spread(e->accuracy_unmasked));
    line("network model", fmt::format("{:.2f} % masked, {:.2f} % unmasked", 100 * e->network_accuracy_masked,
                                      100 * e->network_accuracy_unmasked));
    line("scored", fmt::format("{} clients and the network model, {} test pictures each", e->clients.size(),
                               e->samples));
  }
  line("consensus error", fmt::format("{:.4g}", result.last.consensus_error));
  line("off-index mass", off_index_percent(result.last));
  line("sent", fmt::format("{:.1f} MB", static_cast<double>(result.totals.sent_bytes) / 1e6));
  line("time",
       fmt::format("{:.1f} s: train {:.1f}, exchange {:.2f}, merge {:.2f}, measure {:.2f}, evaluate {:.1f}",
                   seconds.total(), seconds.train, seconds.exchange, seconds.merge, seconds.measure,
                   seconds.evaluate));
  line("records", folder.string());
  if (!report.empty()) line("report", report);
}

// What makes this run again from its beginning, to be pasted into a shell.
std::string command_line(const RunArguments& arguments) {
  std::string line = fmt::format("dfrost run {}", shell_word(arguments.config));
  if (arguments.runs != kUsualRuns) line += fmt::format(" --runs {}", shell_word(arguments.runs));
  for (const auto& change : arguments.overrides) line += fmt::format(" --set {}", shell_word(change));
  return line;
}

// Where the page is, or why there is none.
std::string report_of(const std::filesystem::path& folder) {
  try {
    const auto path = folder / kReportFile;
    write_report(std::array{read_run(folder)}, path);
    return path.string();
  } catch (const std::exception& error) {
    return fmt::format("none: {}", error.what());
  }
}

RunConfig load(const RunArguments& arguments) {
  RunConfig config = load_config(arguments.config, arguments.overrides);
  config.backbone.path = find_backbone(config.backbone.path.string());
  return config;
}

std::filesystem::path folder_of(const RunArguments& arguments, const RunConfig& config) {
  return std::filesystem::path(arguments.runs) / config.run.name;
}

// `place`: null where it is this process alone.
void run_and_show(const RunArguments& arguments, RunPlace* place) {
  const RunConfig config = load(arguments);
  const auto folder = folder_of(arguments, config);
  RunDisplay display(arguments.quiet || arguments.json, config.run.rounds);
  const RunOptions options{folder, arguments.resume, command_line(arguments), arguments.start_over};
  const auto result = place == nullptr ? run_experiment(config, options, display)
                                       : run_experiment(config, options, display, *place);
  // The run is done and saved: a page that cannot be made must not call it failed.
  std::string report;
  if (!arguments.no_report) report = report_of(folder);
  if (arguments.json) {
    print_json(parse_own_json(read_text_file(folder / "summary.json")));
  } else {
    print_closing_table(result, folder, report);
    std::fflush(stdout);  // the last word is that of a warning, also where both go to one place
  }
  display.close((folder / "run.log").string());
}

// Nobody starts MPI who was not started by it; a job of one rank needs none.
void run_federation(const RunArguments& arguments) {
  const auto launch = find_launch();
  if (!launch || (launch->ranks == 1 && !Communicator::exists())) return run_and_show(arguments, nullptr);
  run_on_ranks(
      *launch, [&] { return load(arguments); }, [&] { return folder_of(arguments, load(arguments)); },
      [&](RunPlace& place) { run_and_show(arguments, &place); });
}

}  // namespace

void add_run_command(CLI::App& app) {
  auto* command = add_command(
      app, "run", "Run a whole federation on this machine, as a config file describes it.",
      {"dfrost run demo.toml                                                   what 'dfrost config init "
       "demo' wrote",
       "dfrost run demo.toml --set run.name=average --set merge.kind=average   change a thing, see its "
       "effect",
       "dfrost run demo.toml --resume                                          after a stop or a crash"});
  auto arguments = std::make_shared<RunArguments>();
  command->add_option("config", arguments->config, "The experiment: a TOML file (see 'dfrost config')")
      ->required();
  add_set_option(*command, arguments->overrides);
  command->add_option("--runs", arguments->runs, "The folder that run folders are made in")
      ->capture_default_str();
  auto* resume = command->add_flag("--resume", arguments->resume, "Go on from the last checkpoint");
  command
      ->add_flag("--start-over", arguments->start_over,
                 "Begin anew; a run that is there is moved aside, to NAME-old-1")
      ->excludes(resume);
  command->add_flag("--quiet", arguments->quiet, "Show nothing while it runs");
  command->add_flag("--no-report", arguments->no_report, "Make no report.html at the end");
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { run_federation(*arguments); });
}

}  // namespace dfrost::cli

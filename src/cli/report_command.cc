// `dfrost report`: a page to look at, of one run or of several compared.
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/report_files.h"

namespace dfrost::cli {
namespace {

struct ReportArguments {
  std::vector<std::string> runs;
  std::string out;
};

void make_report(const ReportArguments& arguments) {
  const auto [paths, runs] = read_runs(arguments.runs);
  std::filesystem::path out = arguments.out;
  if (out.empty() && runs.size() == 1) out = std::filesystem::path(paths.front()) / kReportFile;
  if (out.empty()) out = kReportFile;
  write_report(runs, out);
  print_problems(runs);
  fmt::print("wrote {}\n", out.string());
}

}  // namespace

void add_report_command(CLI::App& app) {
  auto* command =
      add_command(app, "report", "Make a page to look at: one run, or several compared.",
                  {"dfrost report runs/demo                                writes runs/demo/report.html",
                   "dfrost report runs/demo runs/average --out both.html   curves side by side"});
  auto arguments = std::make_shared<ReportArguments>();
  command->add_option("run", arguments->runs, "Folders of runs")->required();
  command->add_option("--out", arguments->out,
                      "The page; report.html in the run's folder by default, or here for several");
  command->callback([arguments] { make_report(*arguments); });
}

}  // namespace dfrost::cli

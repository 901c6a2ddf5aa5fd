// `dfrost export`: a run's curves for other programs.
#include <fmt/format.h>

#include <memory>
#include <span>

#include "base/file.h"
#include "cli/command.h"
#include "cli/report_files.h"
#include "report/curves_csv.h"

namespace dfrost::cli {
namespace {

struct ExportArguments {
  std::string run;
  bool csv = false;
  std::string out = "-";
};

void export_curves(const ExportArguments& arguments) {
  const auto run = read_run(arguments.run);
  const std::string csv = curves_csv(run.rounds);
  print_problems(std::span(&run, 1));
  if (arguments.out == "-") {
    fmt::print("{}", csv);
    return;
  }
  write_file_atomically(arguments.out, csv);
  fmt::print("wrote {}\n", arguments.out);
}

}  // namespace

void add_export_command(CLI::App& app) {
  auto* command = add_command(
      app, "export", "A run's curves for other programs: a line per round.",
      {"dfrost export runs/demo --csv > demo.csv", "dfrost export runs/demo --csv --out demo.csv"});
  auto arguments = std::make_shared<ExportArguments>();
  command->add_option("run", arguments->run, "The folder of a run")->required();
  command->add_flag("--csv", arguments->csv, "Comma-separated values")->required();
  command->add_option("--out", arguments->out, "A file; - is the standard output")->capture_default_str();
  command->callback([arguments] { export_curves(*arguments); });
}

}  // namespace dfrost::cli

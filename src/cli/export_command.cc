// `dfrost export`: a run's curves for other programs, and what their columns mean.
#include <fmt/format.h>

#include <memory>
#include <span>

#include "base/file.h"
#include "cli/command.h"
#include "cli/report_files.h"
#include "records/figure_reference.h"
#include "report/curves_csv.h"

namespace dfrost::cli {
namespace {

struct ExportArguments {
  std::string run;
  bool csv = false;
  std::string out = "-";
  bool figures = false;
  bool json = false;
  bool markdown = false;
};

void print_figures(const ExportArguments& arguments) {
  if (arguments.json) return print_json(figures_json());
  fmt::print("{}", arguments.markdown ? figures_markdown() : figures_text());
}

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
      {"dfrost export runs/demo --csv > demo.csv", "dfrost export runs/demo --csv --out demo.csv",
       "dfrost export --figures                       what is recorded of a round, and what it means"});
  auto arguments = std::make_shared<ExportArguments>();
  auto* run = command->add_option("run", arguments->run, "The folder of a run");
  auto* csv = command->add_flag("--csv", arguments->csv, "Comma-separated values");
  command->add_option("--out", arguments->out, "A file; - is the standard output")->capture_default_str();
  auto* figures = command->add_flag("--figures", arguments->figures,
                                    "Instead of a run's curves, the figures of a round: name, unit, meaning");
  figures->excludes(run)->excludes(csv);
  auto* json = command->add_flag("--json", arguments->json, "With --figures: as JSON")->needs(figures);
  command->add_flag("--markdown", arguments->markdown, "With --figures: as the table of the reference page")
      ->needs(figures)
      ->excludes(json);
  command->callback([arguments, run, csv] {
    if (arguments->figures) return print_figures(*arguments);
    for (const auto* option : {run, csv}) {
      if (option->count() == 0) throw CLI::RequiredError(option->get_name());
    }
    export_curves(*arguments);
  });
}

}  // namespace dfrost::cli

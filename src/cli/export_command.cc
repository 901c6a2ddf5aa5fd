// `dfrost export`: a run for other programs: its curves and what their columns mean, and what it has trained.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "base/file.h"
#include "cli/adapter_argument.h"
#include "cli/command.h"
#include "cli/report_files.h"
#include "dfrost/error.h"
#include "onnx/onnx_export.h"
#include "onnx/peft_export.h"
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
  std::string onnx, peft, backbone;
  std::optional<std::size_t> client = {};
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

// The network model, or a client's.
std::filesystem::path adapter_file(const AdapterArgument& found, const ExportArguments& arguments) {
  if (!arguments.client) return found.file;
  if (*arguments.client < found.clients.size()) return found.clients[*arguments.client];
  throw Error(ErrorCode::invalid_argument,
              fmt::format("there is no client {} in {}", *arguments.client, arguments.run),
              found.clients.empty() ? "--client goes with the folder of a run"
                                    : fmt::format("it has {}, from 0", found.clients.size()));
}

void export_adapter(const ExportArguments& arguments) {
  const auto found = find_adapters(arguments.run);
  const auto adapter = read_adapter_of(adapter_file(found, arguments));
  if (!arguments.onnx.empty()) {
    write_onnx(arguments.onnx, adapter, *open_backbone_of(found, adapter.card, arguments.backbone));
    fmt::print("wrote {}\n", arguments.onnx);
  }
  if (arguments.peft.empty()) return;
  write_peft(arguments.peft, adapter);
  fmt::print("wrote {}\n", arguments.peft);
}

// What was trained: --onnx, --peft and what goes with them.
std::vector<CLI::Option*> add_adapter_options(CLI::App& command, ExportArguments& arguments) {
  auto* onnx = command.add_option("--onnx", arguments.onnx,
                                  "Write the model with what was trained as an ONNX file (opset 17)");
  auto* peft =
      command.add_option("--peft", arguments.peft, "Write what was trained into a folder as PEFT has it");
  command.add_option("--client", arguments.client, "With these: a client's, instead of the network model");
  command.add_option("--backbone", arguments.backbone,
                     "With --onnx: the checkpoint: a file, a folder, or a name; else that of the run");
  return {onnx, peft};
}

}  // namespace

void add_export_command(CLI::App& app) {
  auto* command = add_command(
      app, "export", "A run for other programs: its curves, a line per round, or what it has trained.",
      {"dfrost export runs/demo --csv > demo.csv", "dfrost export runs/demo --csv --out demo.csv",
       "dfrost export runs/demo --onnx model.onnx       for ONNX runtimes; --client 3 for one client's",
       "dfrost export runs/demo --peft adapter          as Hugging Face's PEFT keeps it",
       "dfrost export --figures                       what is recorded of a round, and what it means"});
  auto arguments = std::make_shared<ExportArguments>();
  auto* run = command->add_option("run", arguments->run,
                                  "The folder of a run, or with --onnx and --peft an adapter file");
  auto* csv = command->add_flag("--csv", arguments->csv, "Comma-separated values");
  command->add_option("--out", arguments->out, "A file; - is the standard output")->capture_default_str();
  auto* figures = command->add_flag("--figures", arguments->figures,
                                    "Instead of a run's curves, the figures of a round: name, unit, meaning");
  const auto trained = add_adapter_options(*command, *arguments);
  figures->excludes(run)->excludes(csv);
  auto* json = command->add_flag("--json", arguments->json, "With --figures: as JSON")->needs(figures);
  command->add_flag("--markdown", arguments->markdown, "With --figures: as the table of the reference page")
      ->needs(figures)
      ->excludes(json);
  command->callback([arguments, run, csv, trained] {
    if (arguments->figures) return print_figures(*arguments);
    const bool exports_adapter =
        std::ranges::any_of(trained, [](const auto* option) { return option->count() > 0; });
    if (exports_adapter && run->count() > 0) export_adapter(*arguments);
    if (exports_adapter && run->count() > 0 && csv->count() == 0) return;
    for (const auto* option : {run, csv}) {
      if (option->count() == 0) throw CLI::RequiredError(option->get_name());
    }
    export_curves(*arguments);
  });
}

}  // namespace dfrost::cli

// `dfrost barycenter`: the prompt set in the middle of several, each counted by its own shape rather than by
// index.
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/prompt_file.h"
#include "dfrost/wasserstein.h"

namespace dfrost::cli {
namespace {

struct BarycenterArguments {
  std::string out;
  std::vector<std::string> files;
  std::vector<double> weights;
  std::size_t prompts = 0;
  BarycenterOptions options;
  bool overwrite = false, json = false;
};

void write_barycenter(const BarycenterArguments& arguments) {
  protect_prompt_files(arguments.out, arguments.files, arguments.overwrite);
  const auto files = read_prompt_files(arguments.files);
  std::vector<Measure> measures;
  for (const auto& file : files) measures.push_back({file.view()});
  const std::size_t prompts = arguments.prompts == 0 ? files.front().prompts : arguments.prompts;
  std::vector<float> values(prompts * files.front().width);
  const MatrixView<float> points(values.data(), prompts, files.front().width);
  const auto summary = barycenter(measures, arguments.weights, arguments.options, points);
  write_prompt_file(arguments.out, points);
  if (arguments.json) {
    return print_json({{"out", arguments.out},
                       {"n", prompts},
                       {"d", points.cols()},
                       {"objective", summary.objective},
                       {"squared_distances", summary.squared_distances},
                       {"converged", summary.converged},
                       {"passes", summary.passes},
                       {"best_start", summary.best_start},
                       {"start_objectives", summary.start_objectives}});
  }
  fmt::print("barycenter of {} sets, {} prompts: {}\n\n", files.size(), prompts, arguments.out);
  fmt::print("mean W2^2   {:.9g}   {} after {} passes, best of {} starts\n\n", summary.objective,
             summary.converged ? "converged" : "not converged", summary.passes,
             summary.start_objectives.size());
  for (std::size_t f = 0; f < files.size(); ++f) {
    fmt::print("{:>20}   W2^2 {:.6g}\n", files[f].name, summary.squared_distances[f]);
  }
}

}  // namespace

void add_barycenter_command(CLI::App& app) {
  auto* command = add_command(
      app, "barycenter", "Find the prompt set in the middle of several, whatever their order.",
      {"dfrost barycenter --out middle.safetensors a.safetensors b.safetensors c.safetensors",
       "dfrost barycenter --out middle.safetensors --weights 0.5,0.5 a.safetensors b.safetensors"});
  auto arguments = std::make_shared<BarycenterArguments>();
  command->add_option("--out", arguments->out, "The file to write")->required();
  command
      ->add_option("--prompts", arguments->prompts,
                   "Prompts of the barycenter; 0: as many as the first file has")
      ->check(CLI::Range(std::size_t{0}, kMostPrompts))
      ->capture_default_str();
  take_comma_list(*command->add_option("--weights", arguments->weights,
                                       "One weight per file, summing to 1; default: all the same"),
                  kWeightsForm);
  command->add_flag("--overwrite", arguments->overwrite, "Let --out replace one of the files that are read");
  command->add_option("--starts", arguments->options.starts, "Starts to try; the best is kept")
      ->capture_default_str();
  command->add_option("--seed", arguments->options.seed, "Seed of the starts that are drawn")
      ->capture_default_str();
  command->add_option("--threads", arguments->options.threads, "Threads; 0: all there are")
      ->capture_default_str();
  add_json_flag(*command, arguments->json);
  command->add_option("files", arguments->files, "Prompt files (safetensors)")->required();
  command->callback([arguments] { write_barycenter(*arguments); });
}

}  // namespace dfrost::cli

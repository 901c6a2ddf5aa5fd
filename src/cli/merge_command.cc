// `dfrost merge`: several prompt files into one.
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/merge_report.h"
#include "cli/prompt_file.h"
#include "dfrost/measure.h"
#include "dfrost/merge.h"
#include "merge/merge_kinds.h"
#include "merge/merge_words.h"

namespace dfrost::cli {
namespace {

struct MergeArguments {
  std::string out, previous;
  std::vector<std::string> files;
  std::size_t prompts = 0;
  std::vector<double> weights;
  std::string kind = "ot", init = "own", dead = "paper", shrink = "paper", form = "auto";
  MergeOptions options;
  bool overwrite = false, explain = false, json = false;
};

void merge_files(MergeArguments& arguments) {
  auto& options = arguments.options;
  options.kind = parse_choice(kMergeKinds, "kind of merge", arguments.kind);
  options.init = parse_choice(kMergeInits, "initialisation", arguments.init);
  options.dead = parse_choice(kDeadPrompts, "rule for dead prompts", arguments.dead);
  options.shrink = parse_choice(kShrinks, "shrink", arguments.shrink);
  options.form = parse_choice(kMergeForms, "form", arguments.form);
  options.validate();
  protect_prompt_files(arguments.out, arguments.files, arguments.overwrite);
  protect_prompt_files(arguments.out, {arguments.previous}, arguments.overwrite);
  const auto files = read_prompt_files(arguments.files);
  const auto senders = views_of(files);
  const PromptFile previous =
      arguments.previous.empty() ? PromptFile() : read_prompt_file(arguments.previous);
  const std::size_t prompts = arguments.prompts == 0 ? files.front().prompts : arguments.prompts;
  std::vector<float> values(prompts * files.front().width);
  const MatrixView<float> merged(values.data(), prompts, files.front().width);
  const auto summary =
      merge({.senders = senders, .weights = arguments.weights, .previous = previous.view()}, options, merged);
  write_prompt_file(arguments.out, merged);
  const MergeReport report{arguments.out, files,   options,
                           summary,       prompts, merge_error(senders, arguments.weights, merged)};
  if (arguments.json) return print_json(to_json(report));
  fmt::print("{} prompts of {} sets merged into {}: {}\n", summary.plan.size() / prompts, files.size(),
             prompts, arguments.out);
  if (arguments.explain) fmt::print("\n{}", explain(report));
}

void add_method_options(CLI::App& command, MergeArguments& arguments) {
  auto& options = arguments.options;
  std::vector<std::string_view> kinds;
  for (const auto& kind : kMergeKinds) kinds.push_back(kind.word);
  command.add_option("--kind", arguments.kind, fmt::format("One of {}", fmt::join(kinds, ", ")))
      ->capture_default_str();
  take_comma_list(*command.add_option("--weights", arguments.weights,
                                      "One weight per file, summing to 1; default: all the same"),
                  kWeightsForm);
  command.add_option("--epsilon", options.epsilon, "Softness of the assignment")->capture_default_str();
  command.add_option("--lambda", options.lambda, "Weight of the L2 term")->capture_default_str();
  command.add_option("--sigma2", options.sigma2, "Scale of the cost")->capture_default_str();
  command.add_option("--steps", options.steps, "Alternating steps")->capture_default_str();
  command.add_option("--epsilon-init", options.epsilon_init, "Anneal epsilon from here; 0: constant")
      ->capture_default_str();
  command.add_option("--tolerance", options.tolerance, "A step that moves less counts as converged")
      ->capture_default_str();
  command.add_flag("--early-stop", options.early_stop, "Stop at the first such step");
  command.add_option("--init", arguments.init, "Start from own (the first file), previous or kmeans++")
      ->capture_default_str();
  command.add_option("--previous", arguments.previous, "The prompt file for --init previous");
  command.add_option("--dead", arguments.dead, "Prompts without mass: paper (become 0), keep or reseed")
      ->capture_default_str();
  command.add_option("--shrink", arguments.shrink, "paper (lambda pulls to the origin) or off")
      ->capture_default_str();
  command.add_option("--form", arguments.form, "auto, gram or direct: the same result, another cost")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of kmeans++")->capture_default_str();
}

}  // namespace

void add_merge_command(CLI::App& app) {
  auto* command = add_command(
      app, "merge", "Merge prompt sets into one by optimal transport.",
      {"dfrost merge --out merged.safetensors a.safetensors b.safetensors c.safetensors",
       "dfrost merge --out merged.safetensors --explain a.safetensors b.safetensors     who went where",
       "dfrost merge --out merged.safetensors --kind average a.safetensors b.safetensors",
       "dfrost merge --out merged.safetensors --weights 0.8,0.2 a.safetensors b.safetensors"});
  auto arguments = std::make_shared<MergeArguments>();
  command->add_option("--out", arguments->out, "The file to write")->required();
  command
      ->add_option("--prompts", arguments->prompts, "Prompts to merge into; 0: as many as the first file has")
      ->check(CLI::Range(std::size_t{0}, kMostPrompts))
      ->capture_default_str();
  add_method_options(*command, *arguments);
  command->add_flag("--overwrite", arguments->overwrite,
                    "Let --out replace one of the files that are merged");
  command->add_flag("--explain", arguments->explain, "Print the summary and who went where");
  add_json_flag(*command, arguments->json);
  command->add_option("files", arguments->files, "Prompt files (safetensors); the first is the client's own")
      ->required();
  command->callback([arguments] { merge_files(*arguments); });
}

}  // namespace dfrost::cli

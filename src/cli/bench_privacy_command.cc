#include <fmt/format.h>

#include <memory>

#include "cli/benched_model.h"
#include "cli/command.h"
#include "dfrost/backbone.h"
#include "run/privacy_benchmark.h"

namespace dfrost::cli {
namespace {

struct BenchPrivacyArguments {
  BenchedModel model;
  PrivacyBenchmarkOptions options;
  bool json = false;
};

void bench_privacy(const BenchPrivacyArguments& arguments) {
  arguments.options.validate();
  const auto backbone = arguments.model.make();
  const auto& options = arguments.options;
  const auto b = benchmark_privacy(*backbone, options);
  const auto& model = arguments.model.name();
  if (arguments.json)
    return print_json({{"model", model},
                       {"precision", to_string(backbone->precision())},
                       {"batch", options.batch},
                       {"prompts", options.prompts},
                       {"classes", options.classes},
                       {"turns", b.turns},
                       {"seconds_plain", b.plain_seconds},
                       {"seconds_private", b.private_seconds},
                       {"ratio", b.ratio}});
  fmt::print("{}, {}, {} prompts, {} classes, batch {}: {} steps of each kind in turns\n", model,
             to_string(backbone->precision()), options.prompts, options.classes, options.batch, b.turns);
  fmt::print("{:<24}{:.2f} ms\n", "a step", 1e3 * b.plain_seconds);
  fmt::print("{:<24}{:.2f} ms, {:.2f} times as long\n", "the same, protected", 1e3 * b.private_seconds,
             b.ratio);
}

}  // namespace

void add_bench_privacy_command(CLI::App& bench) {
  auto* command = add_command(
      bench, "privacy",
      "What a training step costs when it protects single pictures, beside one that does not.",
      {"dfrost bench privacy --model vit-b32           a random ViT-B/32, one client on one thread",
       "dfrost bench privacy --backbone frost-mini"});
  auto arguments = std::make_shared<BenchPrivacyArguments>();
  auto& options = arguments->options;
  arguments->model.add_options(*command);
  command->add_option("--batch", options.batch, "Pictures per step")->capture_default_str();
  command->add_option("--prompts", options.prompts, "Prompts per picture")->capture_default_str();
  command->add_option("--classes", options.classes, "Classes of the head")->capture_default_str();
  command->add_option("--seconds", options.seconds, "How long the measurement takes")->capture_default_str();
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { bench_privacy(*arguments); });
}

}  // namespace dfrost::cli

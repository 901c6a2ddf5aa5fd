#include <fmt/format.h>

#include <memory>

#include "backbone/step_benchmark.h"
#include "base/process.h"
#include "cli/benched_model.h"
#include "cli/checkpoint_options.h"
#include "cli/command.h"
#include "dfrost/backbone.h"

namespace dfrost::cli {
namespace {

struct BenchStepArguments {
  BenchedModel model;
  StepBenchmarkOptions options;
  bool json = false;
};

void print_table(const nlohmann::ordered_json& r) {
  const auto line = [](std::string_view name, const std::string& value) {
    fmt::print("{:<22}{}\n", name, value);
  };
  const auto number = [&](const char* key) { return r.at(key).get<double>(); };
  line("model", fmt::format("{}, {} prompts, batch {}", r.at("model").get<std::string>(),
                            r.at("prompts").get<int>(), r.at("batch").get<int>()));
  line("precision", r.at("precision").get<std::string>());
  line("threads", fmt::format("{} ({} client{})", r.at("threads").get<int>(), r.at("clients").get<int>(),
                              r.at("clients").get<int>() == 1 ? "" : "s side by side"));
  line("ready after", fmt::format("{:.2f} s", number("seconds_to_ready")));
  line("forward + backward", fmt::format("{:.1f} images/s   {:.0f} GFLOP/s",
                                         number("images_per_second_train"), number("gflops_train")));
  line("forward", fmt::format("{:.1f} images/s   {:.0f} GFLOP/s", number("images_per_second_forward"),
                              number("gflops_forward")));
  line("matrix-product peak",
       fmt::format("{:.0f} GFLOP/s, measured before and after", number("gemm_peak_gflops")));
  line("fraction of the peak", fmt::format("{:.0f} % forward + backward", 100 * number("fraction_of_peak")));
  line("memory", fmt::format("{:.0f} MB ready to run, {:.0f} MB at most", number("resident_bytes") / 1e6,
                             number("peak_resident_bytes") / 1e6));
}

void bench_step(const BenchStepArguments& arguments) {
  arguments.options.validate();
  const auto backbone = arguments.model.make();
  const double seconds_to_ready = seconds_since_start();
  const std::size_t ready_bytes = resident_bytes();
  const auto measured = benchmark_step(*backbone, arguments.options);
  nlohmann::ordered_json result = {
      {"model", arguments.model.name()},
      {"precision", to_string(backbone->precision())},
      {"batch", arguments.options.batch},
      {"prompts", arguments.options.prompts},
      {"threads", measured.threads},
      {"clients", measured.clients},
      {"images_per_second_train", measured.images_per_second_train},
      {"images_per_second_forward", measured.images_per_second_forward},
      {"gflops_train", measured.gflops_train},
      {"gflops_forward", measured.gflops_forward},
      {"gemm_peak_gflops", measured.gemm_peak_gflops},
      {"fraction_of_peak", measured.fraction_of_peak},
      {"weight_bytes", backbone->weight_bytes()},
      {"resident_bytes", ready_bytes},
      {"peak_resident_bytes", peak_resident_bytes()},
      {"seconds_to_ready", seconds_to_ready},
  };
  if (arguments.json) return print_json(result);
  print_table(result);
}

}  // namespace

void add_bench_step_command(CLI::App& bench) {
  auto* command = add_command(
      bench, "step", "Images per second of a training step, beside the machine's matrix-product peak.",
      {"dfrost bench step --model vit-b32                a random ViT-B/32, one client per core",
       "dfrost bench step --model vit-b32 --clients 1    the same with one client on all cores",
       "dfrost bench step --model deit-tiny --json"});
  auto arguments = std::make_shared<BenchStepArguments>();
  arguments->model.add_options(*command);
  command->add_option("--batch", arguments->options.batch, "Images per step")->capture_default_str();
  command->add_option("--prompts", arguments->options.prompts, "Prompts per image")->capture_default_str();
  command->add_option("--threads", arguments->options.threads, "Threads; 0: all there are")
      ->capture_default_str();
  command->add_option("--clients", arguments->options.clients, "Clients side by side; 0: one per thread")
      ->capture_default_str();
  command->add_option("--seconds", arguments->options.seconds, "How long each measurement takes")
      ->capture_default_str();
  add_heads_option(*command, arguments->model.how);
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { bench_step(*arguments); });
}

}  // namespace dfrost::cli

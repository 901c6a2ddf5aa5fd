#include <fmt/format.h>

#include <memory>

#include "backbone/random_weights.h"
#include "cli/command.h"
#include "dfrost/backbone.h"
#include "run/federation_benchmark.h"

namespace dfrost::cli {
namespace {

struct BenchFederationArguments {
  std::string model = "deit-tiny";
  std::string precision = "auto";
  FederationBenchmarkOptions options;
  bool json = false;
};

void print_table(const BenchFederationArguments& arguments, const FederationBenchmark& b) {
  const auto line = [](std::string_view name, const std::string& value) {
    fmt::print("{:<22}{}\n", name, value);
  };
  const auto& options = arguments.options;
  const auto share = [&](double seconds) { return 100 * seconds / (b.seconds.total() + b.write_seconds); };
  line("federation", fmt::format("{} clients, {} pictures each, {} around {}, degree {}", options.clients,
                                 options.pictures, options.method, arguments.model, b.degree));
  line("threads", fmt::format("{}", b.threads));
  line("a client's round", fmt::format("{:.2f} ms, {:.2f} ms of processor time", 1e3 * b.seconds_per_client,
                                       1e3 * b.processor_seconds_per_client));
  line("all but training",
       fmt::format("{:.2f} %: exchange {:.2f}, merge {:.2f}, measure {:.2f}, write {:.2f}", 100 * b.overhead,
                   share(b.seconds.exchange), share(b.seconds.merge), share(b.seconds.measure),
                   share(b.write_seconds)));
  line("memory",
       fmt::format("{:.0f} MB at most, {:.0f} MB of it pictures",
                   static_cast<double>(b.peak_memory_bytes) / 1e6, static_cast<double>(b.data_bytes) / 1e6));
  line("a client's memory",
       fmt::format("{:.1f} kB, {:.1f} kB of it its state", static_cast<double>(b.client_bytes) / 1e3,
                   static_cast<double>(b.state_bytes) / 1e3));
  line("mixing factor", fmt::format("{:.6f}, an eigenvalue within {:.1g}", b.last.active_mixing_factor,
                                    b.last.mixing_factor_error));
  line("consensus error",
       fmt::format("{:.4g}; another step would take off {:.2g}, and no barycenter is below {:.4g}",
                   b.last.consensus_error, b.last.consensus_error_gain, b.last.consensus_error_floor));
}

nlohmann::ordered_json each_round_json(const std::vector<ClientRoundCost>& rounds) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& round : rounds)
    list.push_back({{"processor_seconds_per_client", round.processor_seconds},
                    {"page_faults_per_client", round.page_faults}});
  return list;
}

void bench_federation(const BenchFederationArguments& arguments) {
  arguments.options.validate();
  const auto backbone = make_backbone(*random_weights(geometry_of_model(arguments.model), 1),
                                      {parse_precision(arguments.precision)});
  const auto b = benchmark_federation(*backbone, arguments.options);
  if (!arguments.json) return print_table(arguments, b);
  print_json({{"model", arguments.model},
              {"method", arguments.options.method},
              {"precision", to_string(backbone->precision())},
              {"threads", b.threads},
              {"clients", arguments.options.clients},
              {"pictures", arguments.options.pictures},
              {"epochs", arguments.options.epochs},
              {"rounds", arguments.options.rounds},
              {"degree", b.degree},
              {"seconds_per_client_round", b.seconds_per_client},
              {"processor_seconds_per_client_round", b.processor_seconds_per_client},
              {"each_round", each_round_json(b.each_round)},
              {"overhead", b.overhead},
              {"seconds",
               {{"train", b.seconds.train},
                {"exchange", b.seconds.exchange},
                {"merge", b.seconds.merge},
                {"measure", b.seconds.measure},
                {"write", b.write_seconds},
                {"total", b.seconds.total() + b.write_seconds}}},
              {"mixing_factor", b.last.active_mixing_factor},
              {"mixing_factor_error", b.last.mixing_factor_error},
              {"consensus_error", b.last.consensus_error},
              {"consensus_error_gain", b.last.consensus_error_gain},
              {"consensus_error_floor", b.last.consensus_error_floor},
              {"data_bytes", b.data_bytes},
              {"state_bytes", b.state_bytes},
              {"client_bytes", b.client_bytes},
              {"peak_memory_bytes", b.peak_memory_bytes}});
}

}  // namespace

void add_bench_federation_command(CLI::App& bench) {
  auto* command = add_command(
      bench, "federation", "What a client's round costs, and how much of it is not training.",
      {"dfrost bench federation --model vit-b32 --clients 10   all but training, beside the paper's backbone",
       "dfrost bench federation --model tiny --clients 1000    how it grows with the number of clients",
       "dfrost bench federation --model tiny --clients 100000 --pictures 1 --rounds 1   whether so many "
       "fit"});
  auto arguments = std::make_shared<BenchFederationArguments>();
  auto& options = arguments->options;
  command->add_option("--model", arguments->model, "Geometry with random weights: vit-b32, deit-tiny, tiny …")
      ->capture_default_str();
  command->add_option("--method", options.method, "dfrost, d-psgd, dfedavgm, dfedsam …")
      ->capture_default_str();
  command->add_option("--precision", arguments->precision, "auto, fp32 or bf16")->capture_default_str();
  command->add_option("--clients", options.clients, "Clients of the federation")->capture_default_str();
  command->add_option("--pictures", options.pictures, "Training pictures of each client")
      ->capture_default_str();
  command->add_option("--epochs", options.epochs, "Passes over them in a round")->capture_default_str();
  command->add_option("--rounds", options.rounds, "Rounds to time, after one that is not")
      ->capture_default_str();
  command->add_option("--threads", options.threads, "Threads; 0: all there are")->capture_default_str();
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { bench_federation(*arguments); });
}

}  // namespace dfrost::cli

// `dfrost bench wire`: letters between two sites on loopback, beside bare TLS.
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "network/tls/wire_benchmark.h"

namespace dfrost::cli {
namespace {

struct BenchWireArguments {
  WireBenchmarkOptions options;
  bool json = false;
};

void bench_wire(const BenchWireArguments& arguments) {
  const auto& options = arguments.options;
  const auto result = benchmark_wire(options);
  if (arguments.json) {
    return print_json({{"message_bytes", options.message_bytes},
                       {"small_bytes", options.small_bytes},
                       {"bare_bytes_per_second", result.bare_bytes_per_second},
                       {"wire_bytes_per_second", result.wire_bytes_per_second},
                       {"ratio", result.ratio()},
                       {"small_letter_seconds", result.small_letter_seconds}});
  }
  const auto line = [](std::string_view name, const std::string& value) {
    fmt::print("{:<22}{}\n", name, value);
  };
  line("letters",
       fmt::format("{:.1f} MB, over TLS 1.3 on loopback", 1e-6 * static_cast<double>(options.message_bytes)));
  line("bare TLS", fmt::format("{:.0f} MB/s", 1e-6 * result.bare_bytes_per_second));
  line("between two sites",
       fmt::format("{:.0f} MB/s, {:.2f} of it", 1e-6 * result.wire_bytes_per_second, result.ratio()));
  line("a small letter", fmt::format("{:.0f} us for {:.0f} kB", 1e6 * result.small_letter_seconds,
                                     1e-3 * static_cast<double>(options.small_bytes)));
}

}  // namespace

void add_bench_wire_command(CLI::App& bench) {
  auto* command = add_command(bench, "wire", "How fast letters travel between two sites, beside bare TLS.",
                              {"dfrost bench wire", "dfrost bench wire --bytes 100000 --json"});
  auto arguments = std::make_shared<BenchWireArguments>();
  auto& options = arguments->options;
  command->add_option("--bytes", options.message_bytes, "Size of a letter")->capture_default_str();
  command->add_option("--small", options.small_bytes, "Size of the letter whose latency is measured")
      ->capture_default_str();
  command->add_option("--seconds", options.seconds, "How long each turn measures")->capture_default_str();
  command->add_option("--turns", options.turns, "Turns, of which the best counts")->capture_default_str();
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { bench_wire(*arguments); });
}

}  // namespace dfrost::cli

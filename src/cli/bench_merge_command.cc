// `dfrost bench merge`: how long a merge takes, in Gram space beside the direct form.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/random.h"
#include "base/stopwatch.h"
#include "cli/bench_defence.h"
#include "cli/bench_pool.h"
#include "cli/command.h"
#include "dfrost/merge.h"

namespace dfrost::cli {
namespace {

struct Size {
  std::size_t senders, prompts, width;
};

// The paper's first: six senders of ten prompts at ViT-B/32. Then more and fewer of each, and all 50 clients
// at once.
constexpr Size kSizes[] = {{6, 10, 768}, {3, 10, 768}, {11, 10, 768}, {50, 10, 768},
                           {6, 20, 768}, {6, 50, 768}, {6, 10, 192},  {6, 10, 1024}};

struct BenchMergeArguments {
  std::size_t steps = MergeOptions().steps;
  double seconds = 0.2;
  bool strangers = false;
  bool metric = false;
  bool defence = false;
  bool pfpt = false;
  bool json = false;
};

// Senders that started from one set of the initial scale and drifted apart in training, or strangers that
// have nothing in common.
std::vector<float> make_prompts(const Size& size, bool strangers) {
  RandomStream random(1, "bench merge");
  const std::size_t set = size.prompts * size.width;
  std::vector<float> shared(set), all(size.senders * set);
  const auto initial = [&random] { return static_cast<float>(random.uniform(-0.0395, 0.0395)); };
  std::ranges::generate(shared, initial);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = strangers ? initial() : shared[i % set] + static_cast<float>(0.01 * random.normal());
  return all;
}

// Of the shape that keys and values of a block have, and of a size that leaves distances what they were.
std::vector<float> make_metric(std::size_t width) {
  RandomStream random(2, "bench merge");
  std::vector<float> map(2 * width * width);
  for (float& value : map)
    value = static_cast<float>(random.normal() / std::sqrt(2.0 * static_cast<double>(width)));
  return map;
}

// The shortest of as many merges as fit into the time, three at least: what other programs do only ever adds.
double milliseconds(const Size& size, const BenchMergeArguments& arguments, MergeForm form) {
  const auto values = make_prompts(size, arguments.strangers);
  std::vector<MatrixView<const float>> senders;
  for (std::size_t s = 0; s < size.senders; ++s) {
    senders.emplace_back(values.data() + s * size.prompts * size.width, size.prompts, size.width);
  }
  const auto map = arguments.metric ? make_metric(size.width) : std::vector<float>();
  std::vector<float> merged(size.prompts * size.width);
  const Stopwatch all;
  double shortest = 1e30;
  for (int runs = 0; runs < 3 || all.seconds() < arguments.seconds; ++runs) {
    const Stopwatch one;
    merge({.senders = senders, .metric = {map.data(), map.size() / size.width, size.width}},
          {.steps = arguments.steps, .form = form}, {merged.data(), size.prompts, size.width});
    shortest = std::min(shortest, 1e3 * one.seconds());
  }
  return shortest;
}

void bench_merge(const BenchMergeArguments& arguments) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (!arguments.json)
    fmt::print("{:>6}{:>5}{:>6}{:>7}{:>11}{:>13}\n", "N", "n", "d", "steps", "gram ms", "direct ms");
  for (const auto& size : kSizes) {
    const double gram = milliseconds(size, arguments, MergeForm::gram);
    const double direct = milliseconds(size, arguments, MergeForm::direct);
    const std::size_t rows_in = size.senders * size.prompts;
    if (!arguments.json) {
      fmt::print("{:>6}{:>5}{:>6}{:>7}{:>11.3f}{:>13.3f}\n", rows_in, size.prompts, size.width,
                 arguments.steps, gram, direct);
    }
    rows.push_back({{"N", rows_in},
                    {"n", size.prompts},
                    {"d", size.width},
                    {"steps", arguments.steps},
                    {"gram_ms", gram},
                    {"direct_ms", direct}});
  }
  if (arguments.json) print_json(rows);
}

void bench_defence(const BenchMergeArguments& arguments) {
  const auto rows = bench_defences(arguments.seconds);
  if (arguments.json) return print_json(rows);
  for (const auto& row : rows) {
    fmt::print("{:<9}{:<8}{:>8.3f} ms\n", row["of"].get<std::string>(), row["defence"].get<std::string>(),
               row["ms"].get<double>());
  }
}

void bench_pfpt(const BenchMergeArguments& arguments) {
  const auto rows = bench_pools(arguments.steps, arguments.seconds);
  if (arguments.json) return print_json(rows);
  fmt::print("{:>8}{:>9}{:>6}{:>8}{:>10}{:>22}\n", "senders", "prompts", "d", "passes", "ms",
             "slow version ms");
  for (const auto& row : rows) {
    fmt::print("{:>8}{:>9}{:>6}{:>8}{:>10.1f}{:>22.1f}\n", row["senders"].get<std::size_t>(),
               row["prompts"].get<std::size_t>(), row["d"].get<std::size_t>(),
               row["passes"].get<std::size_t>(), row["ms"].get<double>(), row["slow_ms"].get<double>());
  }
}

}  // namespace

void add_bench_merge_command(CLI::App& bench) {
  auto* command =
      add_command(bench, "merge", "Milliseconds of a merge on one core, in Gram space and directly.",
                  {"dfrost bench merge", "dfrost bench merge --defence", "dfrost bench merge --pfpt",
                   "dfrost bench merge --json"});
  auto arguments = std::make_shared<BenchMergeArguments>();
  command->add_option("--steps", arguments->steps, "Steps of each merge")->capture_default_str();
  command->add_option("--seconds", arguments->seconds, "How long each size is measured")
      ->capture_default_str();
  command->add_flag("--strangers", arguments->strangers,
                    "Senders that have nothing in common, instead of those that drifted from one start");
  command->add_flag("--metric", arguments->metric,
                    "With a metric such as merge.metric = \"first-block\" takes from a backbone");
  command->add_flag("--defence", arguments->defence,
                    "What each part of [defence] costs, at the paper's size");
  command->add_flag(
      "--pfpt", arguments->pfpt,
      "PFPT's aggregation of pools instead, of as many passes as steps, beside its slow version");
  add_json_flag(*command, arguments->json);
  command->callback([arguments] {
    if (arguments->pfpt) return bench_pfpt(*arguments);
    arguments->defence ? bench_defence(*arguments) : bench_merge(*arguments);
  });
}

}  // namespace dfrost::cli

// The merge in both forms, the exact distance, and the consensus error of a network, at the paper's size and
// above.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/random.h"
#include "dfrost/measure.h"
#include "dfrost/merge.h"
#include "dfrost/wasserstein.h"

namespace dfrost {
namespace {

constexpr std::size_t kPrompts = 10, kWidth = 768;

// Clients that drifted from one start by `drift`, or (drift 1) never had one.
struct Network {
  std::vector<float> values;
  std::vector<MatrixView<const float>> clients;

  Network(std::size_t count, double drift) : values(count * kPrompts * kWidth) {
    RandomStream random(1, "merge bench");
    std::vector<float> shared(kPrompts * kWidth);
    for (float& value : shared) value = static_cast<float>(random.uniform(-0.0395, 0.0395));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double own = drift < 1 ? drift * random.normal() : random.uniform(-0.0395, 0.0395);
      values[i] = (drift < 1 ? shared[i % shared.size()] : 0) + static_cast<float>(own);
    }
    for (std::size_t u = 0; u < count; ++u)
      clients.emplace_back(values.data() + u * shared.size(), kPrompts, kWidth);
  }
};

void merge_once(benchmark::State& state, MergeForm form, double drift) {
  const Network network(static_cast<std::size_t>(state.range(0)), drift);
  std::vector<float> merged(kPrompts * kWidth);
  for (auto _ : state) {
    const auto summary =
        merge({.senders = network.clients}, {.form = form}, {merged.data(), kPrompts, kWidth});
    benchmark::DoNotOptimize(summary.objective.back());
  }
}
#define BENCHMARK_MERGE(name, form, drift) \
  BENCHMARK_CAPTURE(merge_once, name, form, drift)->Arg(6)->Arg(50)->Unit(benchmark::kMillisecond)
BENCHMARK_MERGE(automatic, MergeForm::automatic, 0.01);
BENCHMARK_MERGE(automatic_strangers, MergeForm::automatic, 1.0);
BENCHMARK_MERGE(gram, MergeForm::gram, 0.01);
BENCHMARK_MERGE(gram_strangers, MergeForm::gram, 1.0);
BENCHMARK_MERGE(direct, MergeForm::direct, 0.01);
BENCHMARK_MERGE(direct_strangers, MergeForm::direct, 1.0);

void distance(benchmark::State& state) {
  const Network network(2, 0.01);
  for (auto _ : state) {
    benchmark::DoNotOptimize(wasserstein2_squared({network.clients[0]}, {network.clients[1]}).w2_squared);
  }
}
BENCHMARK(distance)->Unit(benchmark::kMicrosecond);

void consensus(benchmark::State& state, double drift) {
  const Network network(static_cast<std::size_t>(state.range(0)), drift);
  const auto threads = static_cast<std::size_t>(state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(consensus_error(network.clients, {.threads = threads}).error);
}
#define BENCHMARK_CONSENSUS(name, drift)    \
  BENCHMARK_CAPTURE(consensus, name, drift) \
      ->Args({50, 1})                       \
      ->Args({10'000, 2})                   \
      ->Unit(benchmark::kMillisecond)       \
      ->UseRealTime()
BENCHMARK_CONSENSUS(related, 0.01);
BENCHMARK_CONSENSUS(strangers, 1.0);

}  // namespace
}  // namespace dfrost

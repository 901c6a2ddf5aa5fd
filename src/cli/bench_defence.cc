#include "cli/bench_defence.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/stopwatch.h"
#include "dfrost/merge.h"
#include "merge/robust_mean.h"
#include "merge/set_defence.h"

namespace dfrost::cli {
namespace {

// A client and its five neighbours, ten prompts and a head of fifty classes each, ViT-B/32.
constexpr std::size_t kSenders = 6, kPrompts = 10, kWidth = 768, kHead = 50 * (kWidth + 1);

// Sets that drifted from one start, the last of them far away.
std::vector<float> drifted(std::size_t size) {
  RandomStream random(1, "bench defence");
  std::vector<float> shared(size), all;
  for (float& value : shared) value = static_cast<float>(random.uniform(-0.0395, 0.0395));
  for (std::size_t s = 0; s < kSenders; ++s)
    for (const float value : shared)
      all.push_back((s + 1 == kSenders ? 3 : 1) * value + static_cast<float>(0.01 * random.normal()));
  return all;
}

double shortest_ms(double seconds, const std::function<void()>& work) {
  const Stopwatch all;
  double shortest = 1e30;
  for (int runs = 0; runs < 3 || all.seconds() < seconds; ++runs) {
    const Stopwatch one;
    work();
    shortest = std::min(shortest, 1e3 * one.seconds());
  }
  return shortest;
}

// A client's merge of prompts as run/state_merge.cc does it: rejected, clipped, then merged.
void defended_merge(std::span<const MatrixView<const float>> sets, double reject, const ClipOptions& clip,
                    const MergeOptions& options) {
  std::vector<MatrixView<const float>> kept;
  const auto odd = reject > 0 ? outlying_sets(sets, reject) : std::vector<bool>(sets.size(), false);
  for (std::size_t s = 0; s < sets.size(); ++s)
    if (!odd[s]) kept.push_back(sets[s]);
  std::vector<std::vector<float>> moved;
  if (clip.is_on()) {
    const auto clipped = clip_sets(kept, clip);
    for (std::size_t s = 0; s < clipped.size(); ++s) {
      if (!clipped[s].is_clipped()) continue;
      moved.emplace_back(clipped[s].points.begin(), clipped[s].points.end());
      kept[s + 1] = {moved.back().data(), kPrompts, kWidth};
    }
  }
  std::vector<float> merged(kPrompts * kWidth);
  merge({.senders = kept}, options, {merged.data(), kPrompts, kWidth});
}

}  // namespace

nlohmann::ordered_json bench_defences(double seconds) {
  const auto prompts = drifted(kPrompts * kWidth), heads = drifted(kHead);
  std::vector<MatrixView<const float>> sets;
  std::vector<const float*> vectors;
  for (std::size_t s = 0; s < kSenders; ++s) {
    sets.emplace_back(prompts.data() + s * kPrompts * kWidth, kPrompts, kWidth);
    vectors.push_back(heads.data() + s * kHead);
  }
  const std::vector<double> weights(kSenders, 1.0 / kSenders);
  std::vector<float> head(kHead);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const auto time_prompts = [&](const char* name, double reject, const ClipOptions& clip,
                                const MergeOptions& options) {
    rows.push_back({{"of", "prompts"}, {"defence", name}, {"ms", shortest_ms(seconds, [&] {
                                                             defended_merge(sets, reject, clip, options);
                                                           })}});
  };
  time_prompts("none", 0, {}, {});
  time_prompts("reject", 2, {}, {});
  time_prompts("clip", 0, {.share = 0.2}, {});
  time_prompts("trim", 0, {}, {.trim = 0.2});
  time_prompts("median", 0, {}, {.median = 1});
  time_prompts("all", 2, {.share = 0.2}, {.trim = 0.2, .median = 1});
  for (const auto& [name, options] : {std::pair<const char*, RobustMeanOptions>{"none", {}},
                                      {"trim", {.trim = 0.2}},
                                      {"median", {.median = 1}}}) {
    const double ms = shortest_ms(seconds, [&, &options = options] {
      robust_mean({vectors, weights, kHead}, options, head);
    });
    rows.push_back({{"of", "heads"}, {"defence", name}, {"ms", ms}});
  }
  return rows;
}

}  // namespace dfrost::cli

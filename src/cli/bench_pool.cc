#include "cli/bench_pool.h"

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "base/stopwatch.h"
#include "merge/pool_aggregation.h"

namespace dfrost::cli {
namespace {

struct PoolSize {
  std::size_t senders, prompts, width;
};

// Ten clients of a server at ViT-B/32; a client and its four neighbours whose pools have grown, at
// frost-mini's width.
constexpr PoolSize kPoolSizes[] = {{10, 10, 768}, {5, 10, 768}, {5, 40, 192}};

}  // namespace

nlohmann::ordered_json bench_pools(std::size_t passes, double seconds) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& size : kPoolSizes) {
    RandomStream random(1, "bench pools");
    std::vector<float> shared(size.prompts * size.width), all(size.senders * shared.size());
    for (float& value : shared) value = static_cast<float>(random.uniform(-0.0395, 0.0395));
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = shared[i % shared.size()] + static_cast<float>(0.01 * random.normal());
    std::vector<MatrixView<const float>> senders;
    for (std::size_t s = 0; s < size.senders; ++s)
      senders.emplace_back(all.data() + s * shared.size(), size.prompts, size.width);
    const PoolAggregationOptions options{.passes = passes, .seed = 1};
    double shortest = 1e30;
    const Stopwatch whole;
    for (int runs = 0; runs < 3 || whole.seconds() < seconds; ++runs) {
      const Stopwatch one;
      aggregate_pools(senders, options);
      shortest = std::min(shortest, 1e3 * one.seconds());
    }
    const Stopwatch slow;
    aggregate_pools_slowly(senders, options);
    rows.push_back({{"senders", size.senders},
                    {"prompts", size.prompts},
                    {"d", size.width},
                    {"passes", passes},
                    {"ms", shortest},
                    {"slow_ms", 1e3 * slow.seconds()}});
  }
  return rows;
}

}  // namespace dfrost::cli

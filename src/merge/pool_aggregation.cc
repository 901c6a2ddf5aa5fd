#include "merge/pool_aggregation.h"

#include "base/random.h"
#include "dfrost/error.h"
#include "merge/fast_pool_model.h"
#include "merge/pool_model.h"
#include "ot/checks.h"

namespace dfrost {
namespace {

// Of one sender, for a model that takes its prompts as `Rows`.
template <class Rows>
struct Contribution {
  Rows prompts;
  std::vector<std::size_t> assigned;  // the centroid of each
};

template <class Rows>
Rows all_prompts(std::span<const MatrixView<const float>> senders) {
  std::size_t rows = 0;
  for (const auto& sender : senders) rows += sender.rows();
  Rows all(rows, senders.front().cols());
  std::size_t first = 0;
  for (const auto& sender : senders) {
    all.set_rows(first, sender);
    first += sender.rows();
  }
  return all;
}

template <class Rows>
std::vector<Contribution<Rows>> first_assignments(std::span<const MatrixView<const float>> senders,
                                                  std::size_t centroids, std::uint64_t seed) {
  std::vector<Contribution<Rows>> all;
  for (std::size_t t = 0; t < senders.size(); ++t) {
    auto order = RandomStream(seed, "pool assignment", t).permutation(centroids);
    order.resize(senders[t].rows());
    all.push_back({Rows(senders[t]), std::move(order)});
  }
  return all;
}

template <class Rows>
PoolAggregate pool_of(const Rows& centroids, const std::vector<Contribution<Rows>>& senders) {
  std::vector<std::size_t> uses(centroids.rows(), 0), place(centroids.rows(), 0);
  for (const auto& sender : senders)
    for (const std::size_t i : sender.assigned) ++uses[i];
  PoolAggregate pool;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i] == 0) continue;
    place[i] = pool.uses.size();
    pool.uses.push_back(uses[i]);
    for (const auto value : centroids.row(i)) pool.prompts.push_back(static_cast<float>(value));
  }
  for (const auto& sender : senders) {
    pool.assigned.emplace_back();
    for (const std::size_t i : sender.assigned) pool.assigned.back().push_back(place[i]);
  }
  return pool;
}

template <class Model>
PoolAggregate aggregate_with(std::span<const MatrixView<const float>> senders,
                             const PoolAggregationOptions& options) {
  using Rows = typename Model::Rows;
  if (senders.empty()) throw Error(ErrorCode::invalid_argument, "no prompt sets to aggregate");
  for (const auto& sender : senders) check_points(sender, senders.front().cols(), "sender");
  Model model(all_prompts<Rows>(senders), options.seed);
  const std::size_t centroids = model.centroids().rows();
  auto contributions = first_assignments<Rows>(senders, centroids, options.seed);
  for (std::size_t pass = 0; pass < options.passes; ++pass) {
    for (auto& sender : contributions) {
      auto best = model.best_assignment(sender.prompts, sender.assigned);  // by the scores of before the step
      model.ascend(sender.prompts, sender.assigned, options.rate);
      sender.assigned = std::move(best);
    }
  }
  return pool_of(model.centroids(), contributions);
}

}  // namespace

PoolAggregate aggregate_pools(std::span<const MatrixView<const float>> senders,
                              const PoolAggregationOptions& options) {
  return aggregate_with<FastPoolModel>(senders, options);
}

PoolAggregate aggregate_pools_slowly(std::span<const MatrixView<const float>> senders,
                                     const PoolAggregationOptions& options) {
  return aggregate_with<PoolModel>(senders, options);
}

}  // namespace dfrost

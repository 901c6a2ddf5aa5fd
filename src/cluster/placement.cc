#include "cluster/placement.h"

#include <algorithm>
#include <numeric>

namespace dfrost {

std::vector<std::uint64_t> work_of_nodes(const Groundwork& ground) {
  std::vector<std::uint64_t> work;
  const std::uint64_t epochs = ground.config.method.round == RoundKind::update
                                   ? std::max<std::uint64_t>(ground.config.train.epochs, 1)
                                   : 1;
  for (const auto& pictures : ground.partition.clients) work.push_back(pictures.size() * epochs);
  work.resize(ground.planner.nodes(), 0);
  return work;
}

std::vector<std::size_t> place_nodes(std::span<const std::uint64_t> work,
                                     std::span<const std::size_t> threads) {
  std::vector<std::size_t> heaviest_first(work.size());
  std::iota(heaviest_first.begin(), heaviest_first.end(), std::size_t{0});
  std::ranges::stable_sort(heaviest_first, std::greater<>(), [&](std::size_t node) { return work[node]; });
  struct Load {
    std::uint64_t work = 0, nodes = 0;
  };
  std::vector<Load> loads(threads.size());
  std::vector<std::size_t> homes(work.size(), 0);
  for (const std::size_t node : heaviest_first) {
    // Compared as fractions, without rounding: all ranks must come to the same.
    const auto lighter = [&](std::size_t a, std::size_t b) {
      const std::uint64_t of_a = (loads[a].work + work[node]) * threads[b];
      const std::uint64_t of_b = (loads[b].work + work[node]) * threads[a];
      return of_a != of_b ? of_a < of_b : loads[a].nodes < loads[b].nodes;
    };
    std::size_t home = 0;
    for (std::size_t rank = 1; rank < threads.size(); ++rank)
      if (lighter(rank, home)) home = rank;
    homes[node] = home;
    loads[home].work += work[node];
    ++loads[home].nodes;
  }
  return homes;
}

}  // namespace dfrost

// Random neighbourhoods for the merge's tests.
#pragma once

#include <vector>

#include "dfrost/merge.h"
#include "merge/neighbourhood.h"
#include "support/numbers.h"

namespace dfrost::test {

struct Neighbours {
  std::vector<Points> sets;

  std::vector<MatrixView<const float>> views() const {
    std::vector<MatrixView<const float>> result;
    for (const auto& set : sets) result.push_back(set.view());
    return result;
  }
  std::size_t rows() const {
    std::size_t count = 0;
    for (const auto& set : sets) count += set.rows;
    return count;
  }
  Neighbourhood gathered(MatrixView<const float> previous = {}) const {
    const auto senders = views();
    return gather({.senders = senders}, previous);
  }
};

// A shared set of `prompts` rows of the initial scale, moved by `noise` at every sender.
inline Neighbours random_neighbours(std::size_t senders, std::size_t prompts, std::size_t width, double noise,
                                    RandomStream& random) {
  Neighbours result;
  const auto shared = random_points(prompts, width, random, 0.5);
  for (std::size_t s = 0; s < senders; ++s) {
    result.sets.push_back(shared);
    for (float& value : result.sets.back().values) value += static_cast<float>(noise * random.normal());
  }
  return result;
}

struct Merged {
  Points prompts;
  MergeSummary summary;
};

inline Merged merge_points(const Neighbours& neighbours, const MergeOptions& options, std::size_t prompts) {
  Merged result{Points(prompts, neighbours.sets.front().cols), {}};
  const auto senders = neighbours.views();
  result.summary = merge({.senders = senders}, options, result.prompts.view());
  return result;
}

}  // namespace dfrost::test

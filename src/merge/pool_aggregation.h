// From the prompt sets of several senders to one pool of as many prompts as they need: PFPT's probabilistic
// aggregation (Weng et al. 2024). One centroid for every received prompt, starting at it; each sender assigns
// each of its prompts to a centroid of its own. In every pass, sender by sender: one step of Adam on
// centroids and networks (merge/pool_model.h) that raises the scores of what is assigned, then the assignment
// that is best by the scores of before the step, exactly. The new pool: every centroid that some sender uses.
// With G prompts of T senders in all, a pass takes T·G·d·(3·128 + 2·G/T) multiply-adds and the assignments
// (G/T)²·G each: without anything to hold it, the time grows with the cube of a pool. In double: spreads
// shrink as centroids settle, and what fp32 rounds off grows to a hundredth within 50 passes. On one thread;
// on one machine the same input gives the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfrost/matrix_view.h"

namespace dfrost {

struct PoolAggregationOptions {
  std::size_t passes = 50;
  double rate = 1e-3;      // of Adam
  std::uint64_t seed = 0;  // of the networks and the first assignments
};

struct PoolAggregate {
  std::vector<float> prompts;     // [uses.size(), d], in the order of the prompts that they started at
  std::vector<std::size_t> uses;  // of each: how many senders
  // Of each sender, of each of its prompts: the one of the pool that it is assigned to.
  std::vector<std::vector<std::size_t>> assigned;
};

// At least one sender, none empty, all of one width; finite values.
PoolAggregate aggregate_pools(std::span<const MatrixView<const float>> senders,
                              const PoolAggregationOptions& options);

// The same by plain loops, for tests and to measure beside.
PoolAggregate aggregate_pools_slowly(std::span<const MatrixView<const float>> senders,
                                     const PoolAggregationOptions& options);

}  // namespace dfrost

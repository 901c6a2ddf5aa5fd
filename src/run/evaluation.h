// Who is scored on what, and the record of the scores. Deterministic: a function of the config and the data.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "data/pool.h"
#include "run/config.h"
#include "run/record.h"
#include "train/evaluate.h"

namespace dfrost {

// Throws (failed_precondition) where a domain has nothing to be scored on: its accuracy would look like 0.
void require_test_pictures(const PooledSet& pool);

// Evenly over the clients, and so over the domains, whose clients stand together.
std::vector<std::size_t> scored_clients(const EvaluateSection& options, std::size_t clients);

// Places in the pooled test set: of each domain a class-balanced subset.
std::vector<std::size_t> scored_samples(const EvaluateSection& options, const PooledSet& pool, Seed seed);

// `scores`: of the clients `chosen`, in their order, and then of the network model.
EvaluationRecord summarize_scores(const PooledSet& pool, const std::vector<std::size_t>& chosen,
                                  std::size_t samples, std::span<const Evaluation> scores);

}  // namespace dfrost

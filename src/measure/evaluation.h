// Who is scored on what, and from scores to their record. Deterministic: a function of the config and the
// data.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "measure/evaluation_record.h"
#include "train/evaluate.h"

namespace dfrost {

struct ScoringOptions {
  std::size_t every = 1;      // rounds; 0: only after the last, which is always scored
  std::size_t clients = 8;    // scored, at most, spread evenly over the domains; 0: all
  std::size_t samples = 200;  // test pictures of each domain, at most; 0: all
  std::size_t batch = 32;     // pictures in one pass
  // Of a run's work, at most, above 60 pictures of each domain: where all that is asked for would take more,
  // fewer test pictures are looked at. 1: no limit.
  double share = 0.2;
  // Pictures of each scored client that an attacker must tell from as many held out; 0: nobody attacks.
  std::size_t membership = 0;
};

// Below so many test pictures of each domain an accuracy says too little to be cut further.
inline constexpr std::size_t kLeastScoredSamples = 60;

// Throws (failed_precondition) where a domain has nothing to be scored on: its accuracy would look like 0.
void require_test_pictures(const Corpus& corpus);

// Evenly over the clients, and so over the domains, whose clients stand together.
std::vector<std::size_t> scored_clients(const ScoringOptions& options, std::size_t clients);

// Places in the pooled test set: of each domain a class-balanced subset.
std::vector<std::size_t> scored_samples(const ScoringOptions& options, const Corpus& corpus, Seed seed);

// `scores`: of the clients `chosen`, in their order, and then of the network model, where there is one.
EvaluationRecord summarize_scores(const Corpus& corpus, const std::vector<std::size_t>& chosen,
                                  std::size_t samples, std::span<const Evaluation> scores);

}  // namespace dfrost

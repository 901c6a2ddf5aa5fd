// The round of clients whose pools grow, one phase: train for a while, send the prompts that travel and the
// rest of the state, and make a new pool of what came (run/pool_growth.h); all else by the mixing weights.
#pragma once

#include "config/config.h"
#include "run/phase.h"
#include "run/update_phase.h"

namespace dfrost {

class PoolPhase final : public Phase {
 public:
  PoolPhase(const TrainOptions& train, const MergeSection& merge, Seed seed)
      : update_(train, merge, seed), merge_(merge), seed_(seed) {}

  void work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const override;
  std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const override;
  std::vector<TensorPattern> expected(const Node& node) const override;
  void absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const override;

 private:
  UpdatePhase update_;  // for what a client does before it sends
  MergeSection merge_;
  Seed seed_;
};

}  // namespace dfrost

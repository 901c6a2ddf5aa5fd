// The round of D-FROST and of the averaging methods, one phase: train for a while, send the state, merge what
// came.
#pragma once

#include "config/config.h"
#include "run/phase.h"
#include "train/local_update.h"

namespace dfrost {

class UpdatePhase final : public Phase {
 public:
  UpdatePhase(const TrainOptions& train, const MergeSection& merge, Seed seed)
      : train_(train), merge_(merge), seed_(seed) {}

  void work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const override;
  std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const override;
  std::vector<TensorPattern> expected(const Node& node) const override;
  void absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const override;

 private:
  // In the coordinates of the node's frame, where it has one.
  LocalUpdateSummary train(Node& node, const RoundPlan& plan, Workplace place) const;

  TrainOptions train_;
  MergeSection merge_;
  Seed seed_;
};

}  // namespace dfrost

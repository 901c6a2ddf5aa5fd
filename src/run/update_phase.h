// The round of D-FROST and of the averaging methods, one phase: train for a while, send the state, merge what
// came.
#pragma once

#include "config/config.h"
#include "run/phase.h"
#include "run/private_round.h"
#include "train/local_update.h"

namespace dfrost {

class UpdatePhase final : public Phase {
 public:
  UpdatePhase(const TrainOptions& train, const MergeSection& merge, Seed seed,
              const PrivateRounds& privacy = {})
      : train_(train), merge_(merge), seed_(seed), privacy_(privacy) {}

  void work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const override;
  std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const override;
  std::vector<TensorPattern> expected(const Node& node) const override;
  void absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const override;

 private:
  // In the coordinates of the node's frame, where it has one.
  LocalUpdateSummary train(Node& node, const TrainOptions& options, const RoundPlan& plan,
                           Workplace place) const;
  // The same as [privacy] asks for, entered into the node's account.
  LocalUpdateSummary train_privately(Node& node, std::size_t pictures, const RoundPlan& plan,
                                     Workplace place) const;

  TrainOptions train_;
  MergeSection merge_;
  Seed seed_;
  PrivateRounds privacy_;
};

}  // namespace dfrost

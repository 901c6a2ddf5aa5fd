// Any phase, with some of its nodes hostile: a decorator between a method and whoever drives it, so that a
// simulated client and a real peer are hostile in the same way, and no method knows of it. A hostile client
// works and absorbs as an honest one does, on poisoned pictures where its kind says so; what it sends is
// forged. What it has to remember for that (its state when the last round began, the letters it got in it,
// the state that it stays at) is in its node's memory, and so in every checkpoint.
#pragma once

#include <memory>

#include "config/config.h"
#include "run/phase.h"

namespace dfrost {

class AttackPhase final : public Phase {
 public:
  AttackPhase(std::unique_ptr<const Phase> honest, const AttackSection& attack, MergeKind merge, Seed seed)
      : honest_(std::move(honest)), attack_(attack), merge_(merge), seed_(seed) {}

  std::string_view work_stage() const override { return honest_->work_stage(); }
  std::string_view absorb_stage() const override { return honest_->absorb_stage(); }
  bool speaks(NodeRole role) const override { return honest_->speaks(role); }
  LetterKind kind() const override { return honest_->kind(); }

  void work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const override;
  std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const override;
  std::vector<TensorPattern> expected(const Node& node) const override { return honest_->expected(node); }
  void absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const override;

 private:
  bool is_attacker(const Node& node, const RoundPlan& plan) const;
  // From its first hostile round on.
  bool acts(const Node& node, const RoundPlan& plan) const;

  std::unique_ptr<const Phase> honest_;
  AttackSection attack_;
  MergeKind merge_;
  Seed seed_;
};

}  // namespace dfrost

// A round of NTK-DFL (Thompson et al. 2025), in three phases:
//   average  clients send their states and take the mean of the heads that came and their own, all alike: w̄
//   ask      each sends w̄ to its neighbours
//   answer   each evaluates every w̄ that it got at its own pictures and sends back what the Jacobian of the
//            outputs there is made of, with outputs and classes; the one that asked moves its head along the
//            kernel of all pictures, its own among them (train/tangent_kernel.h, train/kernel_evolution.h)
// Of a linear head the Jacobian is the features. Whoever gets a Jacobian can have the features of each
// picture from it; where features are pixels, the picture.
#pragma once

#include "config/config.h"
#include "run/phase.h"
#include "run/update_phase.h"

namespace dfrost {

class NtkAveragePhase final : public Phase {
 public:
  NtkAveragePhase(const TrainOptions& train, const MergeSection& merge, NtkPrompts prompts, Seed seed)
      : update_(train, merge, seed), merge_(merge), prompts_(prompts), seed_(seed) {}

  std::string_view absorb_stage() const override { return "average"; }
  void work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const override;
  std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const override;
  std::vector<TensorPattern> expected(const Node& node) const override;
  void absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const override;

 private:
  UpdatePhase update_;  // for prompts that are trained
  MergeSection merge_;
  NtkPrompts prompts_;
  Seed seed_;
};

class NtkAskPhase final : public Phase {
 public:
  std::string_view work_stage() const override { return "ask"; }
  std::string_view absorb_stage() const override { return "listen"; }
  void work(Node&, const RoundPlan&, Workplace, NodeReport&) const override {}
  std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const override;
  std::vector<TensorPattern> expected(const Node& node) const override;
  void absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const override;
};

class NtkAnswerPhase final : public Phase {
 public:
  // `batch`: pictures that go through the backbone at once; changes no result.
  NtkAnswerPhase(const NtkOptions& options, ClassMask mask, std::size_t batch, Seed seed)
      : options_(options), mask_(mask), batch_(batch), seed_(seed) {}

  std::string_view work_stage() const override { return "answer"; }
  std::string_view absorb_stage() const override { return "evolve"; }
  LetterKind kind() const override { return LetterKind::tangent; }
  void work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const override;
  std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const override;
  std::vector<TensorPattern> expected(const Node& node) const override;
  void absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const override;

 private:
  NtkOptions options_;
  ClassMask mask_;
  std::size_t batch_;
  Seed seed_;
};

}  // namespace dfrost

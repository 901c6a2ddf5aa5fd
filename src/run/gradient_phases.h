// Two classics that exchange once per gradient, with W the round's mixing weights (or another merge), η the
// learning rate, g_t the gradient of the node's own loss at x_t:
//   DGD (Yuan 2016)   x ← W x − η g: the gradient is taken before the states are mixed, and followed
//   afterwards. D² (Tang 2018)    x ← W (x − η g₀), then x ← W (2 x_t − x_{t−1} − η (g_t − g_{t−1})): what
//   differs between the
//                     nodes' data cancels out. Each node remembers its last state and gradient.
#pragma once

#include "config/config.h"
#include "run/phase.h"
#include "train/local_gradient.h"

namespace dfrost {

// What both have in common: the gradient, the letter, the merge.
class GradientPhase : public Phase {
 public:
  GradientPhase(const GradientOptions& gradient, double learning_rate, const MergeSection& merge, Seed seed)
      : gradient_(gradient), rate_(static_cast<float>(learning_rate)), merge_(merge), seed_(seed) {}

  std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const override;
  std::vector<TensorPattern> expected(const Node& node) const override;

 protected:
  // The gradient at the node's state; nothing, and a report of divergence, where it is not finite: the node
  // is then back where it last had one. A node without data has the gradient zero.
  std::vector<float> differentiate(Node& node, const RoundPlan& plan, Workplace place,
                                   NodeReport& report) const;
  void merge(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const;
  // To the last state of which it is known that it has a gradient.
  virtual void go_back(Node& node) const = 0;
  float rate() const { return rate_; }

 private:
  GradientOptions gradient_;
  float rate_;
  MergeSection merge_;
  Seed seed_;
};

class DgdPhase final : public GradientPhase {
 public:
  using GradientPhase::GradientPhase;
  void work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const override;
  void absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const override;

 protected:
  void go_back(Node& node) const override;
};

class D2Phase final : public GradientPhase {
 public:
  // Weights whose eigenvalues all lie above this make it converge.
  static constexpr double kLeastEigenvalue = -1.0 / 3;

  using GradientPhase::GradientPhase;
  void work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const override;
  void absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const override;

 protected:
  void go_back(Node& node) const override;
};

}  // namespace dfrost

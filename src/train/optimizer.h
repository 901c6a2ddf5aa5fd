// SGD with momentum and Adam over one span of values, with PyTorch's semantics, and the adaptive SAM ascent
// that may go before either. State starts at zero each round: the merge changes what a prompt is.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace dfrost {

enum class OptimizerKind {
  sgd,   // v = momentum·v + g; w −= rate·v
  adam,  // Kingma and Ba (2015), with bias correction
};
std::string_view to_string(OptimizerKind kind);
OptimizerKind parse_optimizer_kind(std::string_view word);

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adam;
  double learning_rate = 1e-4;
  double momentum = 0;    // sgd
  double beta1 = 0.9;     // adam: memory of the gradient
  double beta2 = 0.999;   // adam: memory of its square
  double epsilon = 1e-8;  // adam: added to the root of the square
  double sam_radius = 0;  // 0: no SAM; else the radius of the adaptive ascent before each step

  void validate() const;
};

class Optimizer {
 public:
  // A fresh start for `size` values; keeps the memory of an earlier one.
  void start(const OptimizerOptions& options, std::size_t size);
  void step(std::span<const float> gradient, std::span<float> values);

 private:
  void step_sgd(std::span<const float> gradient, std::span<float> values);
  void step_adam(std::span<const float> gradient, std::span<float> values);

  OptimizerOptions options_;
  std::size_t steps_ = 0;
  std::vector<float> first_;   // momentum, or Adam's mean gradient
  std::vector<float> second_;  // Adam's mean square
};

// w += radius · w²∘g / ‖ |w|∘g ‖₂ over all values (adaptive SAM, Kwon et al. 2021). Nothing where the
// gradient vanishes. The way back is the caller's copy of w, exact to the bit.
void ascend_adaptively(std::span<const float> gradient, double radius, std::span<float> values);

}  // namespace dfrost

// SGD with momentum and Adam over one span of values, with PyTorch's semantics, and the adaptive SAM ascent
// that may go before either. What an optimizer remembers from step to step is a value of its own, laid out as
// what it trains: it starts at zero each round, or is kept from a client's round to its next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace dfrost {

enum class OptimizerKind {
  sgd,   // v = momentum·v + g; w −= rate·v
  adam,  // Kingma and Ba (2015), with bias correction
};
std::string_view to_string(OptimizerKind kind);
// What it is called in a sentence: "Adam".
std::string_view title_of(OptimizerKind kind);
// All of them, in the order in which they are listed to a user.
std::vector<OptimizerKind> optimizer_kinds();

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

struct OptimizerState {
  std::uint64_t steps = 0;    // taken
  std::uint64_t rested = 0;   // of these, those in which prompts were at rest
  std::vector<float> first;   // momentum, or Adam's mean gradient; empty for plain SGD
  std::vector<float> second;  // Adam's mean square; empty for SGD

  // As if no step had been taken, for `size` values; reuses the allocation of an earlier start.
  void start(const OptimizerOptions& options, std::size_t size);
  // Whether it was started for these.
  bool fits(const OptimizerOptions& options, std::size_t size) const;
  bool operator==(const OptimizerState&) const = default;
};

// How many vectors as long as the trained values an optimizer remembers: 2 for Adam, 1 for momentum, 0 else.
std::size_t remembered_vectors(const OptimizerOptions& options);

// What a client's optimizer remembers when a round begins.
enum class OptimizerMemory {
  fresh,  // nothing: the merge has changed what a prompt is
  kept,   // what it did at the end of the client's own round before, by index; never sent or merged
};
std::string_view to_string(OptimizerMemory memory);

// How a step treats the values before those of the head: prompts, and what chooses among them.
struct PromptStep {
  std::size_t head = 0;  // where the head's values begin
  double rate = 1;       // times the learning rate
  bool rests = false;    // nothing of them moves, and of them the optimizer neither learns nor forgets
};

// One step down the gradient, from a state that fits.
void descend(const OptimizerOptions& options, std::span<const float> gradient, OptimizerState& state,
             std::span<float> values);
void descend(const OptimizerOptions& options, const PromptStep& prompts, std::span<const float> gradient,
             OptimizerState& state, std::span<float> values);

// w += radius · w²∘g / ‖ |w|∘g ‖₂ over all values (adaptive SAM, Kwon et al. 2021). Nothing where the
// gradient vanishes. The way back is the caller's copy of w, exact to the bit.
void ascend_adaptively(std::span<const float> gradient, double radius, std::span<float> values);

}  // namespace dfrost

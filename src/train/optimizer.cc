#include "train/optimizer.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>

#include "dfrost/error.h"
#include "kernels/vector_ops.h"

namespace dfrost {
namespace {

void require(bool holds, const char* place, double value, const char* rule) {
  if (!holds) throw Error(ErrorCode::invalid_argument, fmt::format("{} is not {}", value, rule)).at(place);
}

// Some of the values, with what the optimizer remembers of them.
struct Slice {
  std::span<const float> gradient;
  std::span<float> first, second;  // empty where nothing is remembered
  std::span<float> values;
  std::uint64_t steps = 0;  // taken with these, this one among them
};

Slice slice_of(std::span<const float> gradient, OptimizerState& state, std::span<float> values,
               std::size_t begin, std::size_t end) {
  const auto part = [&](std::span<float> all) { return all.empty() ? all : all.subspan(begin, end - begin); };
  return {gradient.subspan(begin, end - begin), part(state.first), part(state.second), part(values),
          state.steps};
}

void step_sgd(const OptimizerOptions& options, const Slice& slice) {
  const auto rate = static_cast<float>(options.learning_rate);
  const auto& [gradient, velocity, second, values, steps] = slice;
  if (velocity.empty()) return add_scaled(-rate, gradient, values);
  const auto momentum = static_cast<float>(options.momentum);
  for (std::size_t i = 0; i < values.size(); ++i) velocity[i] = momentum * velocity[i] + gradient[i];
  add_scaled(-rate, velocity, values);
}

void step_adam(const OptimizerOptions& options, const Slice& slice) {
  const auto& [gradient, first, second, values, steps] = slice;
  const auto beta1 = static_cast<float>(options.beta1), rest1 = static_cast<float>(1.0 - options.beta1);
  const auto beta2 = static_cast<float>(options.beta2), rest2 = static_cast<float>(1.0 - options.beta2);
  const auto time = static_cast<double>(steps);
  const auto rate = static_cast<float>(options.learning_rate / (1.0 - std::pow(options.beta1, time)));
  const auto root_scale = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(options.beta2, time)));
  const auto epsilon = static_cast<float>(options.epsilon);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float g = gradient[i];
    first[i] = beta1 * first[i] + rest1 * g;
    second[i] = beta2 * second[i] + rest2 * g * g;
    values[i] -= rate * first[i] / (std::sqrt(second[i]) * root_scale + epsilon);
  }
}

// All that there is to say of an optimizer: a new one is a row here and its step above.
struct Optimizer {
  OptimizerKind kind;
  std::string_view word;
  std::string_view title;
  std::size_t (*remembered_vectors)(const OptimizerOptions&);
  void (*step)(const OptimizerOptions&, const Slice&);
};

constexpr Optimizer kOptimizers[] = {
    {OptimizerKind::adam, "adam", "Adam", [](const OptimizerOptions&) -> std::size_t { return 2; },
     step_adam},
    {OptimizerKind::sgd, "sgd", "SGD with or without momentum",
     [](const OptimizerOptions& options) -> std::size_t { return options.momentum > 0 ? 1 : 0; }, step_sgd},
};

const Optimizer& optimizer_of(OptimizerKind kind) {
  for (const auto& optimizer : kOptimizers) {
    if (optimizer.kind == kind) return optimizer;
  }
  // Never another one in its place: the run would train, and its numbers would be of something else.
  throw Error(ErrorCode::internal,
              fmt::format("optimizer {} is not in the table of optimizers", static_cast<int>(kind)))
      .at("train.optimizer");
}

}  // namespace

std::string_view to_string(OptimizerKind kind) { return optimizer_of(kind).word; }
std::string_view title_of(OptimizerKind kind) { return optimizer_of(kind).title; }

std::vector<OptimizerKind> optimizer_kinds() {
  std::vector<OptimizerKind> kinds;
  for (const auto& optimizer : kOptimizers) kinds.push_back(optimizer.kind);
  return kinds;
}

void OptimizerOptions::validate() const {
  const auto is_share = [](double value) { return value >= 0 && value < 1; };
  require(learning_rate > 0 && std::isfinite(learning_rate), "train.learning_rate", learning_rate,
          "a positive number");
  require(is_share(momentum), "train.momentum", momentum, "in [0, 1)");
  require(is_share(beta1), "train.beta1", beta1, "in [0, 1)");
  require(is_share(beta2), "train.beta2", beta2, "in [0, 1)");
  require(epsilon > 0 && std::isfinite(epsilon), "train.epsilon", epsilon, "a positive number");
  require(sam_radius >= 0 && std::isfinite(sam_radius), "train.sam_radius", sam_radius,
          "zero or a positive number");
}

std::string_view to_string(OptimizerMemory memory) {
  return memory == OptimizerMemory::fresh ? "fresh" : "kept";
}

std::size_t remembered_vectors(const OptimizerOptions& options) {
  return optimizer_of(options.kind).remembered_vectors(options);
}

void OptimizerState::start(const OptimizerOptions& options, std::size_t size) {
  options.validate();
  steps = rested = 0;
  const std::size_t vectors = remembered_vectors(options);
  first.assign(vectors > 0 ? size : 0, 0.0f);
  second.assign(vectors > 1 ? size : 0, 0.0f);
}

bool OptimizerState::fits(const OptimizerOptions& options, std::size_t size) const {
  const std::size_t vectors = remembered_vectors(options);
  return first.size() == (vectors > 0 ? size : 0) && second.size() == (vectors > 1 ? size : 0);
}

void descend(const OptimizerOptions& options, std::span<const float> gradient, OptimizerState& state,
             std::span<float> values) {
  assert(gradient.size() == values.size() && state.fits(options, values.size()));
  ++state.steps;
  optimizer_of(options.kind).step(options, slice_of(gradient, state, values, 0, values.size()));
}

void descend(const OptimizerOptions& options, const PromptStep& prompts, std::span<const float> gradient,
             OptimizerState& state, std::span<float> values) {
  if (prompts.rate == 1 && !prompts.rests && state.rested == 0)
    return descend(options, gradient, state, values);
  assert(gradient.size() == values.size() && state.fits(options, values.size()));
  const Optimizer& optimizer = optimizer_of(options.kind);
  ++state.steps;
  if (prompts.rests) {
    ++state.rested;
  } else {
    OptimizerOptions own = options;
    own.learning_rate *= prompts.rate;
    auto slice = slice_of(gradient, state, values, 0, prompts.head);
    slice.steps -= state.rested;
    optimizer.step(own, slice);
  }
  optimizer.step(options, slice_of(gradient, state, values, prompts.head, values.size()));
}

void ascend_adaptively(std::span<const float> gradient, double radius, std::span<float> values) {
  assert(gradient.size() == values.size());
  double square = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double scaled = static_cast<double>(values[i]) * static_cast<double>(gradient[i]);
    square += scaled * scaled;
  }
  if (!(square > 0)) return;
  // In double: where all gradients are tiny, the scale is beyond what a float holds.
  const double scale = radius / std::sqrt(square);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    values[i] = static_cast<float>(value + scale * value * value * static_cast<double>(gradient[i]));
  }
}

}  // namespace dfrost

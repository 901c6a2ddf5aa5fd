#include "train/optimizer.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>

#include "base/choice.h"
#include "dfrost/error.h"
#include "kernels/vector_ops.h"

namespace dfrost {
namespace {

constexpr Choice<OptimizerKind> kOptimizerKinds[] = {{OptimizerKind::sgd, "sgd"},
                                                     {OptimizerKind::adam, "adam"}};

void require(bool holds, const char* place, double value, const char* rule) {
  if (!holds) throw Error(ErrorCode::invalid_argument, fmt::format("{} is not {}", value, rule)).at(place);
}

}  // namespace

std::string_view to_string(OptimizerKind kind) { return word_of(kOptimizerKinds, kind); }
OptimizerKind parse_optimizer_kind(std::string_view word) {
  return parse_choice(kOptimizerKinds, "optimizer", word);
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

void Optimizer::start(const OptimizerOptions& options, std::size_t size) {
  options.validate();
  options_ = options;
  steps_ = 0;
  const bool adam = options.kind == OptimizerKind::adam;
  first_.assign(adam || options.momentum > 0 ? size : 0, 0.0f);
  second_.assign(adam ? size : 0, 0.0f);
}

void Optimizer::step(std::span<const float> gradient, std::span<float> values) {
  assert(gradient.size() == values.size());
  ++steps_;
  options_.kind == OptimizerKind::adam ? step_adam(gradient, values) : step_sgd(gradient, values);
}

void Optimizer::step_sgd(std::span<const float> gradient, std::span<float> values) {
  const auto rate = static_cast<float>(options_.learning_rate);
  if (first_.empty()) return add_scaled(-rate, gradient, values);
  const auto momentum = static_cast<float>(options_.momentum);
  for (std::size_t i = 0; i < values.size(); ++i) first_[i] = momentum * first_[i] + gradient[i];
  add_scaled(-rate, first_, values);
}

void Optimizer::step_adam(std::span<const float> gradient, std::span<float> values) {
  const auto beta1 = static_cast<float>(options_.beta1), rest1 = static_cast<float>(1.0 - options_.beta1);
  const auto beta2 = static_cast<float>(options_.beta2), rest2 = static_cast<float>(1.0 - options_.beta2);
  const auto time = static_cast<double>(steps_);
  const auto rate = static_cast<float>(options_.learning_rate / (1.0 - std::pow(options_.beta1, time)));
  const auto root_scale = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(options_.beta2, time)));
  const auto epsilon = static_cast<float>(options_.epsilon);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float g = gradient[i];
    first_[i] = beta1 * first_[i] + rest1 * g;
    second_[i] = beta2 * second_[i] + rest2 * g * g;
    values[i] -= rate * first_[i] / (std::sqrt(second_[i]) * root_scale + epsilon);
  }
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

#include "merge/pool_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "base/random.h"
#include "merge/pool_kernels.h"
#include "ot/row_assignment.h"
#include "ot/row_kernels.h"

namespace dfrost {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// log σ(x), for any x.
double log_sigmoid(double x) { return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x)); }

void draw(DoubleMatrix& values, std::size_t inputs, std::uint64_t seed, const std::string& name) {
  RandomStream stream(seed, name);
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  for (std::size_t r = 0; r < values.rows(); ++r)
    for (double& value : values.row(r)) value = stream.uniform(-bound, bound);
}

void add_bias(const DoubleMatrix& bias, DoubleMatrix& rows) {
  for (std::size_t r = 0; r < rows.rows(); ++r) add_scaled_row(bias.row(0), 1, rows.row(r));
}

}  // namespace

PoolWeights::PoolWeights(std::size_t inputs, std::size_t hidden, std::size_t outputs, std::uint64_t seed,
                         std::string_view name)
    : weight1(hidden, inputs), bias1(1, hidden), weight2(outputs, hidden), bias2(1, outputs) {
  draw(weight1, inputs, seed, fmt::format("{}.0.weight", name));
  draw(bias1, inputs, seed, fmt::format("{}.0.bias", name));
  draw(weight2, hidden, seed, fmt::format("{}.1.weight", name));
  draw(bias2, hidden, seed, fmt::format("{}.1.bias", name));
}

PoolNetwork::PoolNetwork(PoolWeights start)
    : weight1(std::move(start.weight1)),
      bias1(std::move(start.bias1)),
      weight2(std::move(start.weight2)),
      bias2(std::move(start.bias2)),
      d_hidden_(bias1.value.cols()) {}

void PoolNetwork::forward(const DoubleMatrix& inputs, DoubleMatrix& hidden, DoubleMatrix& outputs) const {
  products(inputs, weight1.value, hidden);
  add_bias(bias1.value, hidden);
  for (std::size_t r = 0; r < hidden.rows(); ++r)
    for (double& value : hidden.row(r)) value = std::max(value, 0.0);
  products(hidden, weight2.value, outputs);
  add_bias(bias2.value, outputs);
}

void PoolNetwork::backward(std::span<const double> input, std::span<const double> hidden,
                           std::span<const double> d_output, std::span<double> d_input) {
  std::ranges::fill(d_hidden_, 0.0);
  for (std::size_t o = 0; o < d_output.size(); ++o) {
    const auto weights = weight2.value.row(o);
    for (std::size_t h = 0; h < d_hidden_.size(); ++h) d_hidden_[h] += d_output[o] * weights[h];
    add_scaled_row(hidden, d_output[o], weight2.gradient.row(o));
    bias2.gradient(0, o) += d_output[o];
  }
  for (std::size_t h = 0; h < d_hidden_.size(); ++h) {
    if (hidden[h] <= 0) continue;
    add_scaled_row(input, d_hidden_[h], weight1.gradient.row(h));
    add_scaled_row(weight1.value.row(h), d_hidden_[h], d_input);
    bias1.gradient(0, h) += d_hidden_[h];
  }
}

PoolModel::PoolModel(const DoubleMatrix& centroids, std::uint64_t seed)
    : centroids_(centroids),
      spread_network_(PoolWeights(centroids.cols(), kHidden, centroids.cols(), seed, "spread")),
      presence_network_(PoolWeights(centroids.cols(), kHidden, 1, seed, "presence")),
      spread_hidden_(centroids.rows(), kHidden),
      spread_(centroids.rows(), centroids.cols()),
      presence_hidden_(centroids.rows(), kHidden),
      presence_(centroids.rows(), 1) {}

void PoolModel::evaluate() {
  spread_network_.forward(centroids_.value, spread_hidden_, spread_);
  for (std::size_t i = 0; i < spread_.rows(); ++i)
    for (double& value : spread_.row(i)) value = sigmoid(value);
  presence_network_.forward(centroids_.value, presence_hidden_, presence_);
}

// −½ Σ_k (p − φ)²/σ² = −½ Σ (p²/σ² − 2 p φ/σ² + φ²/σ²): one product of [p², p] with [1/σ², −2φ/σ²].
void PoolModel::score(const DoubleMatrix& prompts, const std::vector<bool>& used,
                      DoubleMatrix& scores) const {
  const std::size_t width = prompts.cols(), count = spread_.rows();
  DoubleMatrix left(prompts.rows(), 2 * width), right(count, 2 * width);
  for (std::size_t j = 0; j < prompts.rows(); ++j) {
    for (std::size_t k = 0; k < width; ++k) {
      left(j, k) = prompts(j, k) * prompts(j, k);
      left(j, width + k) = prompts(j, k);
    }
  }
  std::vector<double> alone(count);  // what does not depend on the prompt
  for (std::size_t i = 0; i < count; ++i) {
    double logs = 0, squares = 0;
    for (std::size_t k = 0; k < width; ++k) {
      const double phi = centroids_.value(i, k), precision = 1 / (spread_(i, k) * spread_(i, k));
      right(i, k) = precision;
      right(i, width + k) = -2 * phi * precision;
      squares += phi * phi * precision;
      logs += std::log(spread_(i, k));
    }
    const double logit = presence_(i, 0);
    alone[i] = -0.5 * static_cast<double>(width) * std::log(2 * std::numbers::pi) - logs - 0.5 * squares +
               log_sigmoid(used[i] ? logit : -logit);
  }
  products(left, right, scores);
  for (std::size_t j = 0; j < prompts.rows(); ++j)
    for (std::size_t i = 0; i < count; ++i) scores(j, i) = alone[i] - 0.5 * scores(j, i);
}

std::vector<std::size_t> PoolModel::best_assignment(const DoubleMatrix& prompts,
                                                    std::span<const std::size_t> assigned) {
  std::vector<bool> used(centroids().rows(), false);
  for (const std::size_t i : assigned) used[i] = true;
  DoubleMatrix costs(prompts.rows(), used.size());
  evaluate();
  score(prompts, used, costs);
  for (std::size_t j = 0; j < costs.rows(); ++j)
    for (double& cost : costs.row(j)) cost = -cost;
  return assign_rows(costs);
}

void PoolModel::ascend(const DoubleMatrix& prompts, std::span<const std::size_t> of, double rate) {
  LearnedMatrix* const all[] = {&centroids_,
                                &spread_network_.weight1,
                                &spread_network_.bias1,
                                &spread_network_.weight2,
                                &spread_network_.bias2,
                                &presence_network_.weight1,
                                &presence_network_.bias1,
                                &presence_network_.weight2,
                                &presence_network_.bias2};
  for (LearnedMatrix* learned : all) learned->gradient.fill_with_zeros();
  std::vector<double> d_spread(prompts.cols());
  for (std::size_t j = 0; j < of.size(); ++j) {
    const std::size_t i = of[j];
    const auto phi = std::as_const(centroids_.value).row(i);
    const auto d_phi = centroids_.gradient.row(i);
    for (std::size_t k = 0; k < prompts.cols(); ++k) {
      const double sigma = spread_(i, k), away = (prompts(j, k) - phi[k]) / sigma;
      d_phi[k] += away / sigma;
      d_spread[k] = (away * away - 1) * (1 - sigma);  // through the sigmoid
    }
    const double d_presence = 1 - sigmoid(presence_(i, 0));
    spread_network_.backward(phi, std::as_const(spread_hidden_).row(i), d_spread, d_phi);
    presence_network_.backward(phi, std::as_const(presence_hidden_).row(i), std::span(&d_presence, 1), d_phi);
  }
  ++steps_;
  for (LearnedMatrix* learned : all) step(*learned, rate);
}

// Adam, upwards.
void PoolModel::step(LearnedMatrix& learned, double rate) {
  const auto steps = static_cast<double>(steps_);
  const double size = rate / (1 - std::pow(kAdamBeta1, steps));
  const double inverse_root = 1 / std::sqrt(1 - std::pow(kAdamBeta2, steps));
  for (std::size_t r = 0; r < learned.value.rows(); ++r) {
    const auto value = learned.value.row(r), first = learned.first.row(r), second = learned.second.row(r);
    const auto gradient = learned.gradient.row(r);
    for (std::size_t c = 0; c < value.size(); ++c) {
      first[c] = kAdamBeta1 * first[c] + (1 - kAdamBeta1) * gradient[c];
      second[c] = kAdamBeta2 * second[c] + (1 - kAdamBeta2) * gradient[c] * gradient[c];
      value[c] += size * first[c] / (std::sqrt(second[c]) * inverse_root + kAdamEpsilon);
    }
  }
}

}  // namespace dfrost

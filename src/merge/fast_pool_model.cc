#include "merge/fast_pool_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "merge/pool_model.h"
#include "ot/row_kernels.h"

namespace dfrost {
namespace {

constexpr std::size_t kHidden = PoolModel::kHidden;

// Beyond the last column of spread's outputs stands a bias at which σ is 1 to the last bit: those columns add
// nothing to a logarithm or a gradient, and so kernels need no tail.
constexpr double kSurelyOne = 200;

// values [to, from] as PyTorch lays weights out → columns of `to`, [from, to].
void place_transposed(const DoubleMatrix& values, std::size_t column, DoubleMatrix& to) {
  for (std::size_t r = 0; r < values.rows(); ++r)
    for (std::size_t c = 0; c < values.cols(); ++c) to(c, column + r) = values(r, c);
}

void place_row(const DoubleMatrix& values, std::size_t column, DoubleMatrix& to) {
  for (std::size_t c = 0; c < values.cols(); ++c) to(0, column + c) = values(0, c);
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

double log_sigmoid_of(double x) { return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x)); }

// Some rows of a matrix, as columns: what weighs the rows of a gradient.
DoubleMatrix columns_of(const DoubleMatrix& rows, std::span<const std::size_t> chosen, std::size_t length) {
  DoubleMatrix columns(length, chosen.size());
  for (std::size_t j = 0; j < chosen.size(); ++j)
    for (std::size_t c = 0; c < length; ++c) columns(c, j) = rows(chosen[j], c);
  return columns;
}

MatrixView<const double> view_of(const DoubleMatrix& rows) {
  return {rows.row(0).data(), rows.rows(), rows.cols(), rows.stride()};
}

void move_matrix(const AdamStep& step, const DoubleMatrix& left, const DoubleMatrix& right,
                 MovedMatrix& moved) {
  for (std::size_t r = 0; r < moved.value.rows(); ++r)
    step_adam_row(step, left.row(r), view_of(right), moved.row(r));
}

}  // namespace

FastPoolModel::FastPoolModel(DoubleMatrix centroids, std::uint64_t seed)
    : centroids_(centroids.rows(), centroids.cols()),
      first_(centroids.cols(), 2 * kHidden),
      first_bias_(1, 2 * kHidden),
      spread_(kHidden, centroids.cols()),
      spread_bias_(1, centroids.cols()),
      presence_(1, 2 * kHidden),
      presence_bias_(1, 1),
      hidden_(centroids.rows(), 2 * kHidden),
      inverse_spread_(centroids.rows(), centroids.cols()),
      log_inverse_(centroids.rows()),
      logit_(centroids.rows()) {
  const std::size_t width = centroids.cols();
  centroids_.value = std::move(centroids);
  const PoolNetwork spread(width, kHidden, width, seed, "spread"),
      presence(width, kHidden, 1, seed, "presence");
  place_transposed(spread.weight1.value, 0, first_.value);
  place_transposed(presence.weight1.value, kHidden, first_.value);
  place_row(spread.bias1.value, 0, first_bias_.value);
  place_row(presence.bias1.value, kHidden, first_bias_.value);
  place_transposed(spread.weight2.value, 0, spread_.value);
  place_row(spread.bias2.value, 0, spread_bias_.value);
  std::fill(spread_bias_.value.row(0).data() + width,
            spread_bias_.value.row(0).data() + spread_bias_.value.padded_cols(), kSurelyOne);
  place_row(presence.weight2.value, kHidden, presence_.value);
  place_row(presence.bias2.value, 0, presence_bias_.value);
}

void FastPoolModel::evaluate() {
  multiply(centroids_.value, first_.value, first_bias_.value.row(0), hidden_);
  for (std::size_t i = 0; i < hidden_.rows(); ++i)
    for (double& value : hidden_.row(i)) value = std::max(value, 0.0);
  multiply(hidden_, spread_.value, spread_bias_.value.row(0), inverse_spread_);
  DoubleMatrix logits(hidden_.rows(), 1);
  products(hidden_, presence_.value, logits);
  for (std::size_t i = 0; i < hidden_.rows(); ++i) {
    log_inverse_[i] = invert_sigmoids(inverse_spread_.row(i));
    logit_[i] = logits(i, 0) + presence_bias_.value(0, 0);
  }
}

void FastPoolModel::score(const DoubleMatrix& prompts, const std::vector<bool>& used,
                          DoubleMatrix& scores) const {
  const double constant = -0.5 * static_cast<double>(prompts.cols()) * std::log(2 * std::numbers::pi);
  for (std::size_t i = 0; i < logit_.size(); ++i) {
    const double alone = constant + log_inverse_[i] + log_sigmoid_of(used[i] ? logit_[i] : -logit_[i]);
    for (std::size_t j = 0; j < prompts.rows(); ++j)
      scores(j, i) =
          alone - 0.5 * squared_deviation(prompts.row(j), centroids_.value.row(i), inverse_spread_.row(i));
  }
}

// By what comes back to where, a row for each prompt of a sender.
struct FastPoolModel::Slopes {
  Slopes(std::size_t rows, std::size_t width)
      : spread(rows, width), presence(rows, 1), hidden(rows, 2 * kHidden), centroid(rows, width) {}

  DoubleMatrix spread;    // outputs before the sigmoid
  DoubleMatrix presence;  // the logit
  DoubleMatrix hidden;    // hidden units before the ReLU
  DoubleMatrix centroid;  // φ
};

FastPoolModel::Slopes FastPoolModel::slopes_at(const DoubleMatrix& prompts,
                                               std::span<const std::size_t> of) const {
  Slopes slopes(of.size(), prompts.cols());
  DoubleMatrix from_spread(of.size(), kHidden);
  for (std::size_t j = 0; j < of.size(); ++j) {
    const auto inverse = inverse_spread_.row(of[j]), phi = centroids_.value.row(of[j]);
    for (std::size_t k = 0; k < inverse.size(); ++k) {
      const double u = inverse[k], away = (prompts(j, k) - phi[k]) * u;
      slopes.spread(j, k) = (away * away - 1) * ((u - 1) / u);  // through the sigmoid: 1 − σ
    }
    slopes.presence(j, 0) = 1 - sigmoid_of(logit_[of[j]]);
  }
  products(slopes.spread, spread_.value, from_spread);
  for (std::size_t j = 0; j < of.size(); ++j) {
    const auto hidden = hidden_.row(of[j]), weights = presence_.value.row(0);
    for (std::size_t h = 0; h < 2 * kHidden; ++h) {
      const double back = h < kHidden ? from_spread(j, h) : slopes.presence(j, 0) * weights[h];
      slopes.hidden(j, h) = hidden[h] > 0 ? back : 0.0;
    }
  }
  products(slopes.hidden, first_.value, slopes.centroid);
  for (std::size_t j = 0; j < of.size(); ++j) {
    const auto inverse = inverse_spread_.row(of[j]), phi = centroids_.value.row(of[j]);
    for (std::size_t k = 0; k < inverse.size(); ++k)
      slopes.centroid(j, k) += (prompts(j, k) - phi[k]) * inverse[k] * inverse[k];
  }
  return slopes;
}

void FastPoolModel::ascend(const DoubleMatrix& prompts, std::span<const std::size_t> of, double rate) {
  const Slopes slopes = slopes_at(prompts, of);
  const AdamStep step(rate, ++steps_);
  const std::vector<double> ones(of.size(), 1.0);
  DoubleMatrix weights(1, of.size());
  // Before the centroids move, which weigh the first layer's gradient.
  move_matrix(step, columns_of(centroids_.value, of, prompts.cols()), slopes.hidden, first_);
  move_matrix(step, columns_of(hidden_, of, kHidden), slopes.spread, spread_);
  step_adam_row(step, ones, view_of(slopes.hidden), first_bias_.row(0));
  step_adam_row(step, ones, view_of(slopes.spread), spread_bias_.row(0));
  step_adam_row(step, ones, view_of(slopes.presence), presence_bias_.row(0));
  DoubleMatrix chosen(of.size(), 2 * kHidden);
  for (std::size_t j = 0; j < of.size(); ++j) {
    std::ranges::copy(std::as_const(hidden_).row(of[j]).subspan(kHidden), chosen.row(j).begin() + kHidden);
    weights(0, j) = slopes.presence(j, 0);
  }
  step_adam_row(step, weights.row(0), view_of(chosen), presence_.row(0));  // the first half stays 0
  move_centroids(step, slopes.centroid, of);
}

void FastPoolModel::move_centroids(const AdamStep& step, const DoubleMatrix& slopes,
                                   std::span<const std::size_t> of) {
  const std::size_t nobody = of.size();
  std::vector<std::size_t> prompt_of(centroids_.value.rows(), nobody);
  for (std::size_t j = 0; j < of.size(); ++j) prompt_of[of[j]] = j;
  const double one = 1;
  for (std::size_t i = 0; i < prompt_of.size(); ++i) {
    const bool pulled = prompt_of[i] != nobody;  // the others drift on by their moments
    const auto slope = slopes.row(pulled ? prompt_of[i] : 0);
    step_adam_row(step, std::span(&one, pulled ? 1 : 0), {slope.data(), 1, slope.size()}, centroids_.row(i));
  }
}

}  // namespace dfrost

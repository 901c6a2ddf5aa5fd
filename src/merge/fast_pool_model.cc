#include "merge/fast_pool_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "merge/pool_model.h"
#include "ot/row_assignment.h"
#include "ot/row_kernels.h"

namespace dfrost {
namespace {

constexpr std::size_t kHidden = PoolModel::kHidden;

// Beyond the last column of spread's outputs stands a bias at which σ is 1 to the last bit: those columns add
// nothing to a logarithm or a gradient, and so kernels need no tail.
constexpr double kSurelyOne = 200;

// At first all centroids are much alike, and bounds decide little: so many steps then go without them.
constexpr std::size_t kUnscreened = 3;

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

std::vector<const double*> rows_of(const DoubleMatrix& rows, std::span<const std::size_t> chosen) {
  std::vector<const double*> pointers;
  for (const std::size_t r : chosen) pointers.push_back(rows.row(r).data());
  return pointers;
}

MatrixView<const double> view_of(const DoubleMatrix& rows) {
  return {rows.row(0).data(), rows.rows(), rows.cols(), rows.stride()};
}

}  // namespace

FastPoolModel::FastPoolModel(const DoubleMatrix& centroids, std::uint64_t seed)
    : centroids_(memory_, centroids.rows(), centroids.cols(), centroids.cols()),
      first_(memory_, centroids.cols(), 2 * kHidden, kHidden),
      first_bias_(memory_, 1, 2 * kHidden, kHidden),
      spread_(memory_, kHidden, centroids.cols(), centroids.cols()),
      spread_bias_(memory_, 1, centroids.cols(), centroids.cols()),
      presence_(memory_, 1, 2 * kHidden),
      presence_bias_(memory_, 1, 1),
      hidden_(centroids.rows(), 2 * kHidden, memory_),
      inverse_spread_(centroids.rows(), centroids.cols(), memory_),
      log_inverse_(centroids.rows()),
      logit_(centroids.rows()),
      screen_(centroids.rows(), kHidden, centroids.cols()) {
  const std::size_t width = centroids.cols();
  centroids_.value = centroids;
  const PoolWeights spread(width, kHidden, width, seed, "spread"),
      presence(width, kHidden, 1, seed, "presence");
  place_transposed(spread.weight1, 0, first_.value);
  place_transposed(presence.weight1, kHidden, first_.value);
  place_row(spread.bias1, 0, first_bias_.value);
  place_row(presence.bias1, kHidden, first_bias_.value);
  place_transposed(spread.weight2, 0, spread_.value);
  place_row(spread.bias2, 0, spread_bias_.value);
  std::fill(spread_bias_.value.row(0).data() + width,
            spread_bias_.value.row(0).data() + spread_bias_.value.padded_cols(), kSurelyOne);
  place_row(presence.weight2, kHidden, presence_.value);
  place_row(presence.bias2, 0, presence_bias_.value);
  for (MovedMatrix* moved : {&centroids_, &first_, &first_bias_, &spread_, &spread_bias_}) moved->round();
  std::fill(spread_bias_.rounded.row(0).data() + width,
            spread_bias_.rounded.row(0).data() + spread_bias_.rounded.padded_cols(),
            static_cast<float>(kSurelyOne));
}

void FastPoolModel::evaluate() {
  std::vector<std::size_t> all(centroids_.value.rows());
  std::iota(all.begin(), all.end(), std::size_t{0});
  evaluate(all);
}

void FastPoolModel::evaluate(std::span<const std::size_t> centroids) {
  multiply(centroids_.value, first_.value, first_bias_.value.row(0), centroids, hidden_);
  for (const std::size_t i : centroids)
    for (double& value : hidden_.row(i)) value = std::max(value, 0.0);
  multiply(hidden_, spread_.value, spread_bias_.value.row(0), centroids, inverse_spread_);
  DoubleMatrix chosen(centroids.size(), 2 * kHidden), logits(centroids.size(), 1);
  for (std::size_t c = 0; c < centroids.size(); ++c)
    std::ranges::copy(std::as_const(hidden_).row(centroids[c]), chosen.row(c).begin());
  products(chosen, presence_.value, logits);
  for (std::size_t c = 0; c < centroids.size(); ++c) {
    log_inverse_[centroids[c]] = invert_sigmoids(inverse_spread_.row(centroids[c]));
    logit_[centroids[c]] = logits(c, 0) + presence_bias_.value(0, 0);
  }
}

double FastPoolModel::score_alone(std::size_t centroid, bool used) const {
  const double constant =
      -0.5 * static_cast<double>(centroids_.value.cols()) * std::log(2 * std::numbers::pi);
  const double logit = logit_[centroid];
  return constant + log_inverse_[centroid] + log_sigmoid_of(used ? logit : -logit);
}

double FastPoolModel::score_of(std::span<const double> prompt, std::size_t centroid, double alone) const {
  return alone -
         0.5 * squared_deviation(prompt, centroids_.value.row(centroid), inverse_spread_.row(centroid));
}

void FastPoolModel::score(const DoubleMatrix& prompts, const std::vector<bool>& used,
                          DoubleMatrix& scores) const {
  for (std::size_t i = 0; i < logit_.size(); ++i) {
    const double alone = score_alone(i, used[i]);
    for (std::size_t j = 0; j < prompts.rows(); ++j) scores(j, i) = score_of(prompts.row(j), i, alone);
  }
}

// −scores of a sender's prompts: exact at the centroids that are known, at most that at the others.
class FastPoolModel::Costs {
 public:
  Costs(FastPoolModel& model, const DoubleMatrix& prompts, std::span<const std::size_t> assigned)
      : model_(model),
        prompts_(prompts),
        used_(model.logit_.size(), false),
        known_(used_.size(), false),
        values_(prompts.rows(), used_.size()) {
    for (const std::size_t i : assigned) used_[i] = true;
    learn(assigned);
  }

  const DoubleMatrix& values() const { return values_; }
  bool are_mostly_known() const { return 2 * unknown().size() < known_.size(); }

  std::vector<std::size_t> unknown() const {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < known_.size(); ++i)
      if (!known_[i]) left.push_back(i);
    return left;
  }

  std::vector<std::size_t> unknown_of(std::vector<std::size_t> centroids) const {
    std::erase_if(centroids, [&](std::size_t i) { return known_[i]; });
    return centroids;
  }

  // Those that may be better for some prompt than all that are known.
  std::vector<std::size_t> open() const {
    std::vector<double> cheapest(prompts_.rows(), std::numeric_limits<double>::infinity());
    for (std::size_t j = 0; j < prompts_.rows(); ++j)
      for (std::size_t i = 0; i < known_.size(); ++i)
        if (known_[i]) cheapest[j] = std::min(cheapest[j], values_(j, i));
    auto left = unknown();
    std::erase_if(left, [&](std::size_t i) {
      for (std::size_t j = 0; j < prompts_.rows(); ++j)
        if (values_(j, i) < cheapest[j]) return false;
      return true;
    });
    return left;
  }

  void learn(std::span<const std::size_t> centroids) {
    if (centroids.empty()) return;
    model_.evaluate(centroids);
    for (const std::size_t i : centroids) {
      const double alone = model_.score_alone(i, used_[i]);
      for (std::size_t j = 0; j < prompts_.rows(); ++j)
        values_(j, i) = -model_.score_of(prompts_.row(j), i, alone);
      known_[i] = true;
    }
  }

  void bound(std::span<const std::size_t> centroids) {
    const RoundedPool pool{model_.centroids_.rounded, model_.first_.rounded, model_.first_bias_.rounded,
                           model_.spread_.rounded, model_.spread_bias_.rounded};
    model_.screen_.bound(pool, prompts_, centroids, values_);
    std::vector<std::size_t> beyond;
    for (const std::size_t i : centroids)
      for (std::size_t j = 0; j < prompts_.rows(); ++j)
        if (!std::isfinite(values_(j, i)) && (beyond.empty() || beyond.back() != i)) beyond.push_back(i);
    learn(beyond);
  }

 private:
  FastPoolModel& model_;
  const DoubleMatrix& prompts_;
  std::vector<bool> used_, known_;
  DoubleMatrix values_;
};

// Where the best assignment by bounds has only centroids that are known, it costs what it seems to, and every
// other at least what it seems to: it is the best. Where it is so by a hair, or is not the only one, all
// scores decide, as in PoolModel.
std::vector<std::size_t> FastPoolModel::best_assignment(const DoubleMatrix& prompts,
                                                        std::span<const std::size_t> assigned) {
  Costs costs(*this, prompts, assigned);
  if (unscreened_ > 0) {
    --unscreened_;
  } else if (!costs.are_mostly_known()) {
    costs.bound(costs.unknown());
    auto best = assign_rows(costs.values());
    for (auto missing = costs.unknown_of(best); !missing.empty(); missing = costs.unknown_of(best)) {
      costs.learn(missing);
      costs.learn(costs.open());
      best = assign_rows(costs.values());
    }
    if (costs.are_mostly_known()) unscreened_ = kUnscreened;
    if (is_only_best(costs.values(), best)) return best;
  }
  costs.learn(costs.unknown());
  return assign_rows(costs.values());
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

// Of the spreads before the sigmoid, and of the logit.
void FastPoolModel::start_slopes(const DoubleMatrix& prompts, std::span<const std::size_t> of,
                                 Slopes& slopes) const {
  for (std::size_t j = 0; j < of.size(); ++j) {
    const auto inverse = inverse_spread_.row(of[j]), phi = centroids_.value.row(of[j]);
    for (std::size_t k = 0; k < inverse.size(); ++k) {
      const double u = inverse[k], away = (prompts(j, k) - phi[k]) * u;
      slopes.spread(j, k) = (away * away - 1) * ((u - 1) / u);  // through the sigmoid: 1 − σ
    }
    slopes.presence(j, 0) = 1 - sigmoid_of(logit_[of[j]]);
  }
}

// From the outputs back to the centroids; every layer moves as soon as what comes back has passed it.
void FastPoolModel::move_networks(const AdamStep& step, std::span<const std::size_t> of, Slopes& slopes) {
  const std::vector<double> ones(of.size(), 1.0);
  DoubleMatrix from_spread(of.size(), kHidden), chosen(of.size(), 2 * kHidden), weights(1, of.size());
  step_layer(step, rows_of(hidden_, of), slopes.spread, spread_, from_spread);
  for (std::size_t j = 0; j < of.size(); ++j) {
    const auto hidden = std::as_const(hidden_).row(of[j]);
    const auto presence = std::as_const(presence_.value).row(0);
    for (std::size_t h = 0; h < 2 * kHidden; ++h) {
      const double back = h < kHidden ? from_spread(j, h) : slopes.presence(j, 0) * presence[h];
      slopes.hidden(j, h) = hidden[h] > 0 ? back : 0.0;
    }
    std::ranges::copy(hidden.subspan(kHidden), chosen.row(j).begin() + kHidden);
    weights(0, j) = slopes.presence(j, 0);
  }
  // Before the centroids move, which weigh the first layer's gradient.
  step_layer(step, rows_of(centroids_.value, of), slopes.hidden, first_, slopes.centroid);
  step_adam_row(step, ones, view_of(slopes.hidden), first_bias_.row(0));
  step_adam_row(step, ones, view_of(slopes.spread), spread_bias_.row(0));
  step_adam_row(step, ones, view_of(slopes.presence), presence_bias_.row(0));
  step_adam_row(step, weights.row(0), view_of(chosen), presence_.row(0));  // the first half stays 0
}

void FastPoolModel::ascend(const DoubleMatrix& prompts, std::span<const std::size_t> of, double rate) {
  const AdamStep step(rate, ++steps_);
  Slopes slopes(of.size(), prompts.cols());
  start_slopes(prompts, of, slopes);
  move_networks(step, of, slopes);
  for (std::size_t j = 0; j < of.size(); ++j) {
    const auto inverse = std::as_const(inverse_spread_).row(of[j]);
    const auto phi = std::as_const(centroids_.value).row(of[j]);
    for (std::size_t k = 0; k < inverse.size(); ++k)
      slopes.centroid(j, k) += (prompts(j, k) - phi[k]) * inverse[k] * inverse[k];
  }
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

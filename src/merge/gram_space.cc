#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "merge/prompt_space.h"
#include "ot/row_kernels.h"

namespace dfrost {
namespace {

// A weight that moves a prompt by less than this share of a row is left for later. Most rows settle within a
// few steps, and a settled row costs nothing.
constexpr double kNegligible = 1e-18;

// w·K is carried from step to step by what changed in w, together with the rounding of every size that a
// prompt's weights have had. When they fall below this share of their largest size, it is computed anew.
constexpr double kCollapse = 0.1;

class GramSpace final : public PromptSpace {
 public:
  GramSpace(const DoubleMatrix& rows, std::size_t prompts)
      : rows_(rows),
        products_(rows.rows(), rows.rows()),
        weights_(prompts, rows.rows()),
        weighted_products_(prompts, rows.rows()),
        coefficients_(prompts, rows.rows()),
        with_rows_(prompts, rows.rows()),
        norms_(prompts),
        largest_(prompts),
        changes_(rows.rows(), prompts) {
    gram(rows, products_);
    for (std::size_t k = 0; k < rows.rows(); ++k) row_norms_.push_back(products_(k, k));
  }

  Move move_to(const Position& position, DoubleMatrix& distances) override {
    if (is_at_rest(position)) return {.squared_length = 0, .at_rest = true};
    if (has_collapsed(position.scale)) forget();
    collect_changes(position);
    add_weighted_rows(products_, changed_rows_, changes_, weighted_products_);
    double moved = 0;
    for (std::size_t i = 0; i < norms_.size(); ++i) moved += rescale(i, position.scale[i]);
    measure(distances);
    return {.squared_length = std::max(moved, 0.0), .at_rest = false};
  }

  double squared_norm() const override { return std::accumulate(norms_.begin(), norms_.end(), 0.0); }

  DoubleMatrix prompts() const override {
    DoubleMatrix by_row(rows_.rows(), norms_.size());
    std::vector<std::size_t> every_row(rows_.rows());
    std::iota(every_row.begin(), every_row.end(), std::size_t{0});
    for (std::size_t i = 0; i < norms_.size(); ++i) {
      for (std::size_t k = 0; k < rows_.rows(); ++k) by_row(k, i) = coefficients_(i, k);
    }
    DoubleMatrix prompts(norms_.size(), rows_.cols());
    add_weighted_rows(rows_, every_row, by_row, prompts);
    return prompts;
  }

 private:
  bool is_at_rest(const Position& position) const {
    for (std::size_t i = 0; i < norms_.size(); ++i) {
      const auto weights = position.weights.row(i), coefficients = coefficients_.row(i);
      double sum = 0;
      for (std::size_t k = 0; k < weights.size(); ++k)
        sum += std::abs(position.scale[i] * weights[k] - coefficients[k]);
      if (sum > kRest) return false;
    }
    return true;
  }

  // ‖z_a‖² − 2⟨z_a, φ_i⟩ + ‖φ_i‖²; rounding may leave a tiny negative where a prompt lies on a row.
  void measure(DoubleMatrix& distances) const {
    for (std::size_t i = 0; i < norms_.size(); ++i) {
      const auto with_rows = with_rows_.row(i);
      const auto out = distances.row(i);
      for (std::size_t a = 0; a < out.size(); ++a) {
        out[a] = std::max(row_norms_[a] - 2 * with_rows[a] + norms_[i], 0.0);
      }
    }
  }

  bool has_collapsed(const std::vector<double>& scale) {
    bool collapsed = false;
    for (std::size_t i = 0; i < scale.size(); ++i) {
      const double size = scale[i] > 0 ? 1 / scale[i] : 0;
      collapsed = collapsed || (size > 0 && size < kCollapse * largest_[i]);
      largest_[i] = std::max(largest_[i], size);
    }
    return collapsed;
  }

  void forget() {
    weights_.fill_with_zeros();
    weighted_products_.fill_with_zeros();
    std::fill(largest_.begin(), largest_.end(), 0.0);
  }

  // Brings weights_ up to date; changed_rows_ and changes_ say what that took.
  void collect_changes(const Position& position) {
    is_changed_.assign(rows_.rows(), 0);
    for (std::size_t i = 0; i < norms_.size(); ++i) {
      const auto now = position.weights.row(i), before = std::as_const(weights_).row(i);
      const double least = position.scale[i] > 0 ? kNegligible / position.scale[i] : 0;
      for (std::size_t k = 0; k < now.size(); ++k) {
        is_changed_[k] |= static_cast<char>(std::abs(now[k] - before[k]) > least);
      }
    }
    changed_rows_.clear();
    for (std::size_t k = 0; k < rows_.rows(); ++k) {
      if (!is_changed_[k]) continue;
      for (std::size_t i = 0; i < norms_.size(); ++i) {
        changes_(changed_rows_.size(), i) = position.weights(i, k) - weights_(i, k);
        weights_(i, k) = position.weights(i, k);
      }
      changed_rows_.push_back(k);
    }
  }

  // φ_i and its products with all rows from the carried sums; returns ‖φ_now − φ_before‖².
  double rescale(std::size_t i, double scale) {
    const auto weights = weights_.row(i), sums = weighted_products_.row(i);
    const auto coefficients = coefficients_.row(i), with_rows = with_rows_.row(i);
    double moved = 0, norm = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const double coefficient = scale * weights[k], product = scale * sums[k];
      moved += (coefficient - coefficients[k]) * (product - with_rows[k]);
      norm += coefficient * product;
      coefficients[k] = coefficient;
      with_rows[k] = product;
    }
    norms_[i] = std::max(norm, 0.0);
    return moved;
  }

  const DoubleMatrix& rows_;
  DoubleMatrix products_;           // K = ⟨b_k, b_l⟩
  std::vector<double> row_norms_;   // its diagonal
  DoubleMatrix weights_;            // w, and
  DoubleMatrix weighted_products_;  // w·K: both before scaling
  DoubleMatrix coefficients_;       // scale·w, and
  DoubleMatrix with_rows_;          // ⟨φ_i, b_k⟩ = scale·w·K
  std::vector<double> norms_;       // ‖φ_i‖²
  std::vector<double> largest_;     // 1/scale at its largest since w·K was computed anew
  std::vector<char> is_changed_;
  std::vector<std::size_t> changed_rows_;
  DoubleMatrix changes_;  // of w, [changed rows, n]
};

}  // namespace

std::unique_ptr<PromptSpace> make_gram_space(const DoubleMatrix& rows, std::size_t prompts) {
  return std::make_unique<GramSpace>(rows, prompts);
}

}  // namespace dfrost

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "merge/float_rows.h"
#include "merge/prompt_space.h"
#include "ot/row_kernels.h"

namespace dfrost {
namespace {

constexpr double kFloatRounding = 0x1.0p-24;

// While prompts move far, prompts and distances are summed anew. A small move is summed in floats and added:
// what floats lose is then lost of the move alone.
class DirectSpace final : public PromptSpace {
 public:
  DirectSpace(const DoubleMatrix& rows, std::size_t prompts, double sharpness)
      : rows_(rows),
        row_norms_(squared_norms(rows)),
        largest_norm_(*std::ranges::max_element(row_norms_)),
        from_products_(products_suffice(row_norms_, sharpness)),
        small_change_(kTolerableExponentError /
                      (kFloatRounding * std::max(1.0, 2 * sharpness * largest_norm_))),
        coefficients_(rows.rows(), prompts),
        changes_(rows.rows(), prompts),
        sums_(2, prompts),
        prompts_(prompts, rows.cols()),
        moves_(prompts, rows.cols()),
        norms_(prompts),
        float_rows_(rows, prompts, std::sqrt(largest_norm_)) {}

  Move move_to(const Position& position, DoubleMatrix& distances) override {
    const double change = collect_changes(position);
    if (change == 0) return {.squared_length = 0, .at_rest = true};
    for (std::size_t k = 0; k < changes_.rows(); ++k)
      add_scaled_row(std::as_const(changes_).row(k), 1, coefficients_.row(k));
    if (along_.cols() != distances.cols()) along_ = DoubleMatrix(distances.rows(), distances.cols());
    return {.squared_length = change <= small_change_ ? move_a_little(distances) : move_far(distances),
            .at_rest = false};
  }

  double squared_norm() const override { return std::accumulate(norms_.begin(), norms_.end(), 0.0); }

  // Summed anew rather than carried, so that no rounding of the way is left in them.
  DoubleMatrix prompts() const override {
    DoubleMatrix sums(prompts_.rows(), prompts_.cols());
    float_rows_.combine(coefficients_, sums);
    return sums;
  }

 private:
  // changes_ := how far every coefficient is from where it should be. Returns the largest Σ|change| of a
  // prompt as a share of its Σ|coefficient|, or 0 where all are at rest. The share, because a prompt that
  // dies goes to nothing by steps that are large for what is left of it; and two such prompts must stay
  // alike.
  double collect_changes(const Position& position) {
    std::ranges::fill(sums_.row(0), 0.0);
    std::ranges::fill(sums_.row(1), 0.0);
    const auto change_sums = sums_.row(0), sizes = sums_.row(1);
    for (std::size_t k = 0; k < changes_.rows(); ++k) {
      const auto changes = changes_.row(k), coefficients = coefficients_.row(k);
      for (std::size_t i = 0; i < changes.size(); ++i) {
        const double coefficient = position.scale[i] * position.weights(i, k);
        changes[i] = coefficient - coefficients[i];
        change_sums[i] += std::abs(changes[i]);
        sizes[i] += coefficient;
      }
    }
    double largest = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (change_sums[i] > kRest) largest = std::max(largest, change_sums[i] / std::max(sizes[i], kRest));
    }
    return largest;
  }

  // Both return Σ‖move‖².
  double move_far(DoubleMatrix& distances) {
    std::swap(moves_, prompts_);
    prompts_ = prompts();
    double moved = 0;
    for (std::size_t i = 0; i < prompts_.rows(); ++i) {
      const auto now = std::as_const(prompts_).row(i);
      const auto move = moves_.row(i);  // minus where it was
      add_scaled_row(now, -1, move);
      moved += dot(move, move);
      norms_[i] = dot(now, now);
    }
    if (from_products_) {
      float_rows_.project(prompts_, along_);
      for (std::size_t i = 0; i < prompts_.rows(); ++i)
        step_along(i, row_norms_, norms_[i], distances.row(i));
    } else {
      squared_distances(prompts_, rows_, distances);
    }
    return moved;
  }

  // ‖z − φ − m‖² = ‖z − φ‖² − 2⟨z, m⟩ + (‖φ + m‖² − ‖φ‖²)
  double move_a_little(DoubleMatrix& distances) {
    float_rows_.combine_in_floats(changes_, moves_);
    float_rows_.project_in_floats(moves_, along_);
    double moved = 0;
    for (std::size_t i = 0; i < prompts_.rows(); ++i) {
      const auto move = std::as_const(moves_).row(i);
      const auto prompt = prompts_.row(i);
      const double squared_length = dot(move, move), growth = 2 * dot(move, prompt) + squared_length;
      moved += squared_length;
      norms_[i] = std::max(norms_[i] + growth, 0.0);
      add_scaled_row(move, 1, prompt);
      step_along(i, std::as_const(distances).row(i), growth, distances.row(i));
    }
    return moved;
  }

  // after = before − 2⟨z, ·⟩ + constant, for all rows z; rounding may leave a tiny negative.
  void step_along(std::size_t i, std::span<const double> before, double constant,
                  std::span<double> after) const {
    const auto along = along_.row(i);
    for (std::size_t a = 0; a < after.size(); ++a)
      after[a] = std::max(before[a] - 2 * along[a] + constant, 0.0);
  }

  const DoubleMatrix& rows_;
  std::vector<double> row_norms_;  // ‖z‖²
  double largest_norm_;
  bool from_products_;  // distances need not be taken from differences
  // A change of coefficients up to here may be summed in floats: what they lose of it, a prompt being off by
  // as much of the longest row, is tolerable in an exponent, and in the prompt.
  double small_change_;
  DoubleMatrix coefficients_;  // scale·w, [rows, n]
  DoubleMatrix changes_;       // of the coefficients
  DoubleMatrix sums_;          // Σ|change| and Σ coefficient of every prompt
  DoubleMatrix prompts_;
  DoubleMatrix moves_;
  std::vector<double> norms_;  // ‖φ‖²
  DoubleMatrix along_;         // ⟨z_a, φ_i⟩ or ⟨z_a, move_i⟩, [n, N]
  FloatRows float_rows_;
};

}  // namespace

std::unique_ptr<PromptSpace> make_direct_space(const DoubleMatrix& rows, std::size_t prompts,
                                               double sharpness) {
  return std::make_unique<DirectSpace>(rows, prompts, sharpness);
}

}  // namespace dfrost

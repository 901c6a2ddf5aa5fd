// What PFPT's aggregation spends its time in, over the rows of padded matrices in double, vectorised for the
// machine it runs on (Highway); one thread; on one machine the same input always gives the same bytes.
#pragma once

#include <cstddef>
#include <span>

#include "dfrost/matrix_view.h"
#include "ot/matrix.h"

namespace dfrost {

// results(i, :) = bias + Σ_k a(i, k) · b(k, :) over the rows of b; a may have more columns than that.
void multiply(const DoubleMatrix& a, const DoubleMatrix& b, std::span<const double> bias,
              DoubleMatrix& results);

// In place o → u = 1 + e^−o, which is 1/sigmoid(o), of every vector of a row; returns Σ log u.
double invert_sigmoids(std::span<double> row);

// Σ ((prompt − centroid) · inverse_spread)²: from differences, so that near points far from the origin keep
// their digits.
double squared_deviation(std::span<const double> prompt, std::span<const double> centroid,
                         std::span<const double> inverse_spread);

// PyTorch's defaults.
inline constexpr double kAdamBeta1 = 0.9, kAdamBeta2 = 0.999, kAdamEpsilon = 1e-8;

// Of Adam, upwards, after so many steps.
struct AdamStep {
  AdamStep(double rate, std::size_t steps);

  double size;          // rate / (1 − β₁ᵗ)
  double inverse_root;  // 1 / √(1 − β₂ᵗ)
};

// One row of what Adam moves, with its moments.
struct AdamRow {
  std::span<double> value, first, second;
};
// By the gradient Σ_r weights[r] · gradient row r, which is never stored. All rows are those of padded
// matrices.
void step_adam_row(const AdamStep& step, std::span<const double> weights, MatrixView<const double> rows,
                   const AdamRow& row);

}  // namespace dfrost

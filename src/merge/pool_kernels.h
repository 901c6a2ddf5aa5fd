// What PFPT's aggregation spends its time in, over the rows of padded matrices, in double what it learns and
// in fp32 what only bounds a score (merge/pool_screen.h). Vectorised for the machine it runs on (Highway);
// one thread; on one machine the same input always gives the same bytes.
#pragma once

#include <cstddef>
#include <span>

#include "dfrost/matrix_view.h"
#include "ot/matrix.h"

namespace dfrost {

// Rows of b that a product passes before the next ones: they stay in the nearest cache.
inline constexpr std::size_t kProductBlock = 128;

// results(i, :) = bias + Σ_k a(i, k) · b(k, :) over the rows of b, for each i of `rows`, whose bytes do not
// depend on the others; a may have more columns than b has rows.
void multiply(const DoubleMatrix& a, const DoubleMatrix& b, std::span<const double> bias,
              std::span<const std::size_t> rows, DoubleMatrix& results);
// In blocks of kProductBlock terms, each summed by itself.
void multiply(const FloatMatrix& a, const FloatMatrix& b, std::span<const float> bias,
              std::span<const std::size_t> rows, FloatMatrix& results);

// In place o → u = 1 + e^−o, which is 1/sigmoid(o), of every vector of a row; returns Σ log u.
double invert_sigmoids(std::span<double> row);
struct SpreadSums {
  float logs;     // Σ log u
  float squares;  // Σ (centroid · u)²
};
SpreadSums invert_sigmoids(std::span<const float> centroid, std::span<float> row);

// Σ ((prompt − centroid) · inverse_spread)²: from differences, so that near points far from the origin keep
// their digits.
double squared_deviation(std::span<const double> prompt, std::span<const double> centroid,
                         std::span<const double> inverse_spread);
float squared_deviation(std::span<const float> prompt, std::span<const float> centroid,
                        std::span<const float> inverse_spread);

float squared_norm(std::span<const float> row);
// sums += row².
void add_squares(std::span<const float> row, std::span<float> sums);

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
  std::span<float> rounded = {};  // the first of the values once more, in fp32
};
// By the gradient Σ_r weights[r] · gradient row r, which is never stored. All rows are those of padded
// matrices.
void step_adam_row(const AdamStep& step, std::span<const double> weights, MatrixView<const double> rows,
                   const AdamRow& row);

// A matrix that Adam moves.
struct MovedMatrix {
  // Keeps the first `rounded_cols` columns in fp32 too.
  MovedMatrix(MatrixMemory& memory, std::size_t rows, std::size_t cols, std::size_t rounded_cols = 0)
      : value(rows, cols, memory),
        first(rows, cols, memory),
        second(rows, cols, memory),
        rounded(rows, rounded_cols, memory) {}

  AdamRow row(std::size_t r) { return {value.row(r), first.row(r), second.row(r), rounded.row(r)}; }
  void round();

  DoubleMatrix value;
  DoubleMatrix first, second;  // moments
  FloatMatrix rounded;
};

// A layer of weights, inputs first, and its gradient Σ_j inputs[j][r] · slopes(j, :) for every row r, by one
// pass: back(j, r) = ⟨slopes(j, :), row r⟩ from before the row moves.
void step_layer(const AdamStep& step, std::span<const double* const> inputs, const DoubleMatrix& slopes,
                MovedMatrix& moved, DoubleMatrix& back);

}  // namespace dfrost

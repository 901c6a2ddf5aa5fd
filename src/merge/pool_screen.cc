#include "merge/pool_screen.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "merge/pool_kernels.h"

namespace dfrost {
namespace {

constexpr double kUnit = 0x1p-24;  // what rounding to fp32 adds at most, relative

// Beside what these bounds count: norms that are rounded themselves, and higher powers of kUnit.
constexpr double kSlack = 1.01;

// Of so many roundings one after the other.
double rounding(std::size_t times) { return kSlack * static_cast<double>(times) * kUnit; }

// Roundings on the way to an output of multiply(): both factors and the product, the sum of a block, the
// blocks and the bias.
double product_rounding(std::size_t terms) {
  return rounding(3 + std::min(terms, kProductBlock) + terms / kProductBlock + 2);
}

// Of exponentials and logarithms: sixteen times what Highway says of its own.
constexpr double kFunctionRounding = 32 * kUnit;

// Of sums over a row, in however many lanes, of terms that are rounded a few times themselves.
double row_rounding(std::size_t width) { return rounding(width + 12); }

double norm_of(std::span<const float> row) { return std::sqrt(static_cast<double>(squared_norm(row))); }

FloatMatrix rounded(const DoubleMatrix& rows) {
  FloatMatrix floats(rows.rows(), rows.cols());
  for (std::size_t r = 0; r < rows.rows(); ++r)
    std::ranges::transform(rows.row(r), floats.row(r).begin(),
                           [](double x) { return static_cast<float>(x); });
  return floats;
}

}  // namespace

struct PoolScreen::Norms {
  double first, first_bias;    // of the matrix (Frobenius), of the row
  double spread, spread_bias;  // largest of a column
};

PoolScreen::PoolScreen(std::size_t centroids, std::size_t hidden, std::size_t width)
    : hidden_(centroids, hidden), inverse_spread_(centroids, width), sums_(1, width) {}

PoolScreen::Norms PoolScreen::norms_of(const RoundedPool& pool, FloatMatrix& sums) {
  double first = 0, bias = 0;
  for (std::size_t r = 0; r < pool.first.rows(); ++r)
    first += static_cast<double>(squared_norm(pool.first.row(r)));
  sums.fill_with_zeros();
  for (std::size_t r = 0; r < pool.spread.rows(); ++r) add_squares(pool.spread.row(r), sums.row(0));
  for (const float value : pool.spread_bias.row(0))
    bias = std::max(bias, std::abs(static_cast<double>(value)));
  const double spread = static_cast<double>(std::ranges::max(std::as_const(sums).row(0)));
  return {std::sqrt(first), norm_of(pool.first_bias.row(0)), std::sqrt(spread), bias};
}

// Hidden units as a vector are off by what the first layer rounds, outputs by what the weights make of that
// (the ReLU makes nothing larger) and by what the second layer rounds; a logarithm of 1 + e^−o by no more
// than o.
double PoolScreen::error_at(const Norms& norms, const RoundedPool& pool, std::size_t centroid) const {
  const double first = product_rounding(pool.first.rows()) *
                       (norms.first_bias + norm_of(pool.centroids.row(centroid)) * norms.first);
  const double second = product_rounding(pool.spread.rows()) *
                        (norms.spread_bias + norm_of(hidden_.row(centroid)) * norms.spread);
  return kSlack * (norms.spread * first + second) + kFunctionRounding;
}

void PoolScreen::bound(const RoundedPool& pool, const DoubleMatrix& prompts,
                       std::span<const std::size_t> rows, DoubleMatrix& costs) {
  const Norms norms = norms_of(pool, sums_);
  const FloatMatrix points = rounded(prompts);
  const auto width = static_cast<double>(prompts.cols());
  const double in_row = row_rounding(prompts.cols());
  multiply(pool.centroids, pool.first, pool.first_bias.row(0), rows, hidden_);
  for (const std::size_t i : rows)
    for (float& value : hidden_.row(i)) value = std::max(value, 0.0f);
  multiply(hidden_, pool.spread, pool.spread_bias.row(0), rows, inverse_spread_);
  for (const std::size_t i : rows) {
    const double error = error_at(norms, pool, i);
    const SpreadSums sums = invert_sigmoids(pool.centroids.row(i), inverse_spread_.row(i));
    const double logs = (1 + in_row) * static_cast<double>(sums.logs) + width * error;
    const double alone = 0.5 * width * std::log(2 * std::numbers::pi) - logs;
    // A centroid is off by kUnit of itself, which a spread makes as much larger as it does distances.
    const double off = kSlack * kUnit * std::sqrt(static_cast<double>(sums.squares));
    const double shrunk = 0.5 * std::exp(-2 * error);
    for (std::size_t j = 0; j < points.rows(); ++j) {
      const double squared = static_cast<double>(
          squared_deviation(points.row(j), pool.centroids.row(i), std::as_const(inverse_spread_).row(i)));
      const double distance = std::max((1 - in_row) * std::sqrt(squared) - off, 0.0);
      costs(j, i) = alone + shrunk * distance * distance;
    }
  }
}

}  // namespace dfrost

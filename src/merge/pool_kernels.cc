#include "merge/pool_kernels.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

// Highway compiles this file once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "merge/pool_kernels.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using PoolDoubles = hn::CappedTag<double, DoubleMatrix::kPadding>;
using PoolVector = hn::Vec<PoolDoubles>;

// Rows of a that a tile takes at once, and vectors of b: as many sums as there are registers for.
constexpr std::size_t kTileRows = 5;
constexpr std::size_t kTileVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
// Rows of b that a tile passes before the next one: they stay in the nearest cache.
constexpr std::size_t kBlockRows = 128;

// results += a(first_row …, block) · b(block, column …). Past the last row a tile repeats the last.
template <std::size_t kVectors>
HWY_INLINE void add_tile(const DoubleMatrix& a, const DoubleMatrix& b, std::size_t first_row,
                         std::size_t column, std::size_t block, std::size_t block_end,
                         DoubleMatrix& results) {
  const PoolDoubles tag;
  const std::size_t lanes = hn::Lanes(tag), last = results.rows() - 1;
  const double* from[kTileRows];
  PoolVector sums[kTileRows][kVectors];
  for (std::size_t r = 0; r < kTileRows; ++r) {
    from[r] = a.row(std::min(first_row + r, last)).data();
    const double* old = std::as_const(results).row(std::min(first_row + r, last)).data() + column;
    for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::Load(tag, old + v * lanes);
  }
  const double* row = b.row(0).data() + block * b.stride() + column;
  for (std::size_t k = block; k < block_end; ++k, row += b.stride()) {
    PoolVector right[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) right[v] = hn::Load(tag, row + v * lanes);
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const PoolVector left = hn::Set(tag, from[r][k]);
      for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(left, right[v], sums[r][v]);
    }
  }
  for (std::size_t r = 0; r < kTileRows && first_row + r <= last; ++r) {
    double* to = results.row(first_row + r).data() + column;
    for (std::size_t v = 0; v < kVectors; ++v) hn::Store(sums[r][v], tag, to + v * lanes);
  }
}

template <std::size_t kVectors>
HWY_INLINE void add_columns(const DoubleMatrix& a, const DoubleMatrix& b, std::size_t column,
                            DoubleMatrix& results) {
  for (std::size_t block = 0; block < b.rows(); block += kBlockRows)
    for (std::size_t row = 0; row < results.rows(); row += kTileRows)
      add_tile<kVectors>(a, b, row, column, block, std::min(block + kBlockRows, b.rows()), results);
}

void multiply(const DoubleMatrix& a, const DoubleMatrix& b, std::span<const double> bias,
              DoubleMatrix& results) {
  const std::size_t lanes = hn::Lanes(PoolDoubles()), length = results.padded_cols();
  for (std::size_t r = 0; r < results.rows(); ++r) std::copy_n(bias.data(), length, results.row(r).data());
  std::size_t column = 0;
  for (; column + kTileVectors * lanes <= length; column += kTileVectors * lanes)
    add_columns<kTileVectors>(a, b, column, results);
  for (; column < length; column += lanes) add_columns<1>(a, b, column, results);
}

double invert_sigmoids(double* row, std::size_t length) {
  const PoolDoubles tag;
  PoolVector logs = hn::Zero(tag);
  for (std::size_t c = 0; c < length; c += hn::Lanes(tag)) {
    const PoolVector u = hn::Add(hn::Set(tag, 1.0), hn::Exp(tag, hn::Neg(hn::Load(tag, row + c))));
    logs = hn::Add(logs, hn::Log(tag, u));
    hn::Store(u, tag, row + c);
  }
  return hn::GetLane(hn::SumOfLanes(tag, logs));
}

double squared_deviation(const double* prompt, const double* centroid, const double* inverse_spread,
                         std::size_t length) {
  const PoolDoubles tag;
  PoolVector squares = hn::Zero(tag);
  for (std::size_t c = 0; c < length; c += hn::Lanes(tag)) {
    const PoolVector away = hn::Sub(hn::Load(tag, prompt + c), hn::Load(tag, centroid + c));
    const PoolVector scaled = hn::Mul(away, hn::Load(tag, inverse_spread + c));
    squares = hn::MulAdd(scaled, scaled, squares);
  }
  return hn::GetLane(hn::SumOfLanes(tag, squares));
}

void step_adam_row(const AdamStep& step, std::span<const double> weights, MatrixView<const double> rows,
                   const AdamRow& row) {
  const PoolDoubles tag;
  const std::size_t lanes = hn::Lanes(tag);
  const PoolVector size = hn::Set(tag, step.size), inverse_root = hn::Set(tag, step.inverse_root);
  const PoolVector epsilon = hn::Set(tag, kAdamEpsilon);
  for (std::size_t c = 0; c < row.value.size(); c += lanes) {
    PoolVector gradient = hn::Zero(tag);
    const double* right = rows.data() + c;
    for (const double weight : weights) {
      gradient = hn::MulAdd(hn::Set(tag, weight), hn::Load(tag, right), gradient);
      right += rows.stride();
    }
    const PoolVector first =
        hn::MulAdd(hn::Set(tag, 1 - kAdamBeta1), gradient,
                   hn::Mul(hn::Set(tag, kAdamBeta1), hn::Load(tag, row.first.data() + c)));
    const PoolVector second =
        hn::MulAdd(hn::Mul(hn::Set(tag, 1 - kAdamBeta2), gradient), gradient,
                   hn::Mul(hn::Set(tag, kAdamBeta2), hn::Load(tag, row.second.data() + c)));
    const PoolVector below = hn::MulAdd(hn::Sqrt(second), inverse_root, epsilon);
    const PoolVector value = hn::MulAdd(size, hn::Div(first, below), hn::Load(tag, row.value.data() + c));
    hn::Store(first, tag, row.first.data() + c);
    hn::Store(second, tag, row.second.data() + c);
    hn::Store(value, tag, row.value.data() + c);
  }
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfrost {

HWY_EXPORT(multiply);
HWY_EXPORT(invert_sigmoids);
HWY_EXPORT(squared_deviation);
HWY_EXPORT(step_adam_row);

void multiply(const DoubleMatrix& a, const DoubleMatrix& b, std::span<const double> bias,
              DoubleMatrix& results) {
  assert(b.rows() <= a.cols() && results.rows() == a.rows());
  assert(results.cols() == b.cols() && bias.size() == b.cols());
  HWY_DYNAMIC_DISPATCH(multiply)(a, b, bias, results);
}

double invert_sigmoids(std::span<double> row) {
  return HWY_DYNAMIC_DISPATCH(invert_sigmoids)(row.data(), row.size());
}

double squared_deviation(std::span<const double> prompt, std::span<const double> centroid,
                         std::span<const double> inverse_spread) {
  return HWY_DYNAMIC_DISPATCH(squared_deviation)(prompt.data(), centroid.data(), inverse_spread.data(),
                                                 prompt.size());
}

AdamStep::AdamStep(double rate, std::size_t steps)
    : size(rate / (1 - std::pow(kAdamBeta1, static_cast<double>(steps)))),
      inverse_root(1 / std::sqrt(1 - std::pow(kAdamBeta2, static_cast<double>(steps)))) {}

void step_adam_row(const AdamStep& step, std::span<const double> weights, MatrixView<const double> rows,
                   const AdamRow& row) {
  assert(weights.size() <= rows.rows());
  HWY_DYNAMIC_DISPATCH(step_adam_row)(step, weights, rows, row);
}

}  // namespace dfrost
#endif

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

template <class T>
using PoolTag = hn::CappedTag<T, PaddedMatrix<T>::kPadding>;
template <class T>
using PoolVector = hn::Vec<PoolTag<T>>;
using PoolDoubles = PoolTag<double>;
using PoolFloats = PoolTag<float>;

// Rows of a that a tile takes at once, and vectors of b: as many sums as there are registers for.
constexpr std::size_t kTileRows = 5;
constexpr std::size_t kTileVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

// results += a(rows, block) · b(block, column …). Past the last row a tile repeats the last. In fp32 each
// block is summed by itself: rounding grows with the terms of a block, not with all of them.
template <std::size_t kVectors, class T>
HWY_INLINE void add_tile(const PaddedMatrix<T>& a, const PaddedMatrix<T>& b,
                         std::span<const std::size_t> rows, std::size_t column, std::size_t block,
                         std::size_t block_end, PaddedMatrix<T>& results) {
  constexpr bool kApart = sizeof(T) == sizeof(float);
  const PoolTag<T> tag;
  const std::size_t lanes = hn::Lanes(tag), last = rows.size() - 1;
  const T* from[kTileRows];
  PoolVector<T> sums[kTileRows][kVectors];
  for (std::size_t r = 0; r < kTileRows; ++r) {
    from[r] = a.row(rows[std::min(r, last)]).data();
    const T* old = std::as_const(results).row(rows[std::min(r, last)]).data() + column;
    for (std::size_t v = 0; v < kVectors; ++v)
      sums[r][v] = kApart ? hn::Zero(tag) : hn::Load(tag, old + v * lanes);
  }
  const T* row = b.row(0).data() + block * b.stride() + column;
  for (std::size_t k = block; k < block_end; ++k, row += b.stride()) {
    PoolVector<T> right[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) right[v] = hn::Load(tag, row + v * lanes);
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const PoolVector<T> left = hn::Set(tag, from[r][k]);
      for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(left, right[v], sums[r][v]);
    }
  }
  for (std::size_t r = 0; r < kTileRows && r <= last; ++r) {
    T* to = results.row(rows[r]).data() + column;
    for (std::size_t v = 0; v < kVectors; ++v) {
      T* const place = to + v * lanes;
      hn::Store(kApart ? hn::Add(hn::Load(tag, place), sums[r][v]) : sums[r][v], tag, place);
    }
  }
}

template <std::size_t kVectors, class T>
HWY_INLINE void add_columns(const PaddedMatrix<T>& a, const PaddedMatrix<T>& b,
                            std::span<const std::size_t> rows, std::size_t column, PaddedMatrix<T>& results) {
  for (std::size_t block = 0; block < b.rows(); block += kProductBlock)
    for (std::size_t first = 0; first < rows.size(); first += kTileRows)
      add_tile<kVectors>(a, b, rows.subspan(first), column, block, std::min(block + kProductBlock, b.rows()),
                         results);
}

template <class T>
HWY_INLINE void multiply_rows(const PaddedMatrix<T>& a, const PaddedMatrix<T>& b, std::span<const T> bias,
                              std::span<const std::size_t> rows, PaddedMatrix<T>& results) {
  const std::size_t lanes = hn::Lanes(PoolTag<T>()), length = results.padded_cols();
  for (const std::size_t r : rows) std::copy_n(bias.data(), length, results.row(r).data());
  std::size_t column = 0;
  for (; column + kTileVectors * lanes <= length; column += kTileVectors * lanes)
    add_columns<kTileVectors>(a, b, rows, column, results);
  for (; column < length; column += lanes) add_columns<1>(a, b, rows, column, results);
}

void multiply(const DoubleMatrix& a, const DoubleMatrix& b, std::span<const double> bias,
              std::span<const std::size_t> rows, DoubleMatrix& results) {
  multiply_rows(a, b, bias, rows, results);
}

void multiply_floats(const FloatMatrix& a, const FloatMatrix& b, std::span<const float> bias,
                     std::span<const std::size_t> rows, FloatMatrix& results) {
  multiply_rows(a, b, bias, rows, results);
}

double invert_sigmoids(double* row, std::size_t length) {
  const PoolDoubles tag;
  PoolVector<double> logs = hn::Zero(tag);
  for (std::size_t c = 0; c < length; c += hn::Lanes(tag)) {
    const PoolVector<double> u = hn::Add(hn::Set(tag, 1.0), hn::Exp(tag, hn::Neg(hn::Load(tag, row + c))));
    logs = hn::Add(logs, hn::Log(tag, u));
    hn::Store(u, tag, row + c);
  }
  return hn::GetLane(hn::SumOfLanes(tag, logs));
}

double squared_deviation(const double* prompt, const double* centroid, const double* inverse_spread,
                         std::size_t length) {
  const PoolDoubles tag;
  PoolVector<double> squares = hn::Zero(tag);
  for (std::size_t c = 0; c < length; c += hn::Lanes(tag)) {
    const PoolVector<double> away = hn::Sub(hn::Load(tag, prompt + c), hn::Load(tag, centroid + c));
    const PoolVector<double> scaled = hn::Mul(away, hn::Load(tag, inverse_spread + c));
    squares = hn::MulAdd(scaled, scaled, squares);
  }
  return hn::GetLane(hn::SumOfLanes(tag, squares));
}

// One logarithm for the product of kFactors; where spreads are so small that it overflows, sums are infinite.
SpreadSums invert_float_sigmoids(const float* centroid, float* row, std::size_t length) {
  constexpr std::size_t kFactors = 4;
  const PoolFloats tag;
  const std::size_t lanes = hn::Lanes(tag);
  PoolVector<float> logs = hn::Zero(tag), squares = hn::Zero(tag);
  for (std::size_t c = 0; c < length;) {
    PoolVector<float> factor = hn::Set(tag, 1.0f);
    for (std::size_t f = 0; f < kFactors && c < length; ++f, c += lanes) {
      const PoolVector<float> u = hn::Add(hn::Set(tag, 1.0f), hn::Exp(tag, hn::Neg(hn::Load(tag, row + c))));
      const PoolVector<float> scaled = hn::Mul(hn::Load(tag, centroid + c), u);
      factor = hn::Mul(factor, u);
      squares = hn::MulAdd(scaled, scaled, squares);
      hn::Store(u, tag, row + c);
    }
    logs = hn::Add(logs, hn::Log(tag, factor));
  }
  return {hn::GetLane(hn::SumOfLanes(tag, logs)), hn::GetLane(hn::SumOfLanes(tag, squares))};
}

float float_squared_deviation(const float* prompt, const float* centroid, const float* inverse_spread,
                              std::size_t length) {
  const PoolFloats tag;
  PoolVector<float> squares = hn::Zero(tag);
  for (std::size_t c = 0; c < length; c += hn::Lanes(tag)) {
    const PoolVector<float> away = hn::Sub(hn::Load(tag, prompt + c), hn::Load(tag, centroid + c));
    const PoolVector<float> scaled = hn::Mul(away, hn::Load(tag, inverse_spread + c));
    squares = hn::MulAdd(scaled, scaled, squares);
  }
  return hn::GetLane(hn::SumOfLanes(tag, squares));
}

float squared_norm(const float* row, std::size_t length) {
  const PoolFloats tag;
  PoolVector<float> squares = hn::Zero(tag);
  for (std::size_t c = 0; c < length; c += hn::Lanes(tag)) {
    const PoolVector<float> value = hn::Load(tag, row + c);
    squares = hn::MulAdd(value, value, squares);
  }
  return hn::GetLane(hn::SumOfLanes(tag, squares));
}

void add_squares(const float* row, std::size_t length, float* sums) {
  const PoolFloats tag;
  for (std::size_t c = 0; c < length; c += hn::Lanes(tag)) {
    const PoolVector<float> value = hn::Load(tag, row + c);
    hn::Store(hn::MulAdd(value, value, hn::Load(tag, sums + c)), tag, sums + c);
  }
}

// The vector at c of a row.
HWY_INLINE void move_vector(const AdamStep& step, PoolVector<double> gradient, const AdamRow& row,
                            std::size_t c) {
  const PoolDoubles tag;
  const hn::Rebind<float, PoolDoubles> floats;
  const PoolVector<double> first =
      hn::MulAdd(hn::Set(tag, 1 - kAdamBeta1), gradient,
                 hn::Mul(hn::Set(tag, kAdamBeta1), hn::Load(tag, row.first.data() + c)));
  const PoolVector<double> second =
      hn::MulAdd(hn::Mul(hn::Set(tag, 1 - kAdamBeta2), gradient), gradient,
                 hn::Mul(hn::Set(tag, kAdamBeta2), hn::Load(tag, row.second.data() + c)));
  const PoolVector<double> below =
      hn::MulAdd(hn::Sqrt(second), hn::Set(tag, step.inverse_root), hn::Set(tag, kAdamEpsilon));
  const PoolVector<double> value =
      hn::MulAdd(hn::Set(tag, step.size), hn::Div(first, below), hn::Load(tag, row.value.data() + c));
  hn::Store(first, tag, row.first.data() + c);
  hn::Store(second, tag, row.second.data() + c);
  hn::Store(value, tag, row.value.data() + c);
  if (c < row.rounded.size()) hn::Store(hn::DemoteTo(floats, value), floats, row.rounded.data() + c);
}

void step_adam_row(const AdamStep& step, std::span<const double> weights, MatrixView<const double> rows,
                   const AdamRow& row) {
  const PoolDoubles tag;
  for (std::size_t c = 0; c < row.value.size(); c += hn::Lanes(tag)) {
    PoolVector<double> gradient = hn::Zero(tag);
    const double* right = rows.data() + c;
    for (const double weight : weights) {
      gradient = hn::MulAdd(hn::Set(tag, weight), hn::Load(tag, right), gradient);
      right += rows.stride();
    }
    move_vector(step, gradient, row, c);
  }
}

// Slopes that a tile takes at once, and rows of weights.
constexpr std::size_t kTileSlopes = 5;
constexpr std::size_t kTileWeights = 4;

// back(first_slope …, first …) = ⟨slopes, rows of weights⟩. Past the last slope a tile repeats the last.
template <std::size_t kRows>
HWY_INLINE void reduce_slopes(const DoubleMatrix& slopes, std::size_t first_slope,
                              const DoubleMatrix& weights, std::size_t first, DoubleMatrix& back) {
  const PoolDoubles tag;
  const std::size_t last = slopes.rows() - 1;
  const double *left[kTileSlopes], *right[kRows];
  PoolVector<double> sums[kTileSlopes][kRows];
  for (std::size_t j = 0; j < kTileSlopes; ++j) left[j] = slopes.row(std::min(first_slope + j, last)).data();
  for (std::size_t r = 0; r < kRows; ++r) right[r] = weights.row(first + r).data();
  for (auto& row : sums)
    for (auto& sum : row) sum = hn::Zero(tag);
  for (std::size_t c = 0; c < slopes.padded_cols(); c += hn::Lanes(tag)) {
    PoolVector<double> vectors[kRows];
    for (std::size_t r = 0; r < kRows; ++r) vectors[r] = hn::Load(tag, right[r] + c);
    for (std::size_t j = 0; j < kTileSlopes; ++j) {
      const PoolVector<double> slope = hn::Load(tag, left[j] + c);
      for (std::size_t r = 0; r < kRows; ++r) sums[j][r] = hn::MulAdd(slope, vectors[r], sums[j][r]);
    }
  }
  for (std::size_t j = 0; j < kTileSlopes && first_slope + j <= last; ++j)
    for (std::size_t r = 0; r < kRows; ++r)
      back(first_slope + j, first + r) = hn::GetLane(hn::SumOfLanes(tag, sums[j][r]));
}

template <std::size_t kRows>
HWY_INLINE void step_weights(const AdamStep& step, std::span<const double* const> inputs,
                             const DoubleMatrix& slopes, MovedMatrix& moved, std::size_t first) {
  const PoolDoubles tag;
  AdamRow rows[kRows], next[kRows];  // those after these, which are on their way meanwhile
  for (std::size_t r = 0; r < kRows; ++r) {
    rows[r] = moved.row(first + r);
    next[r] = moved.row(std::min(first + r + kRows, moved.value.rows() - 1));
  }
  for (std::size_t c = 0; c < moved.value.cols(); c += hn::Lanes(tag)) {
    PoolVector<double> gradients[kRows];
    for (auto& gradient : gradients) gradient = hn::Zero(tag);
    const double* slope = slopes.row(0).data() + c;
    for (const double* input : inputs) {
      const PoolVector<double> right = hn::Load(tag, slope);
      for (std::size_t r = 0; r < kRows; ++r)
        gradients[r] = hn::MulAdd(hn::Set(tag, input[first + r]), right, gradients[r]);
      slope += slopes.stride();
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      for (const auto& part : {next[r].value, next[r].first, next[r].second})
        __builtin_prefetch(part.data() + c);
      move_vector(step, gradients[r], rows[r], c);
    }
  }
}

template <std::size_t kRows>
HWY_INLINE void step_rows(const AdamStep& step, std::span<const double* const> inputs,
                          const DoubleMatrix& slopes, MovedMatrix& moved, std::size_t first,
                          DoubleMatrix& back) {
  for (std::size_t j = 0; j < slopes.rows(); j += kTileSlopes)
    reduce_slopes<kRows>(slopes, j, moved.value, first, back);
  step_weights<kRows>(step, inputs, slopes, moved, first);
}

void step_layer(const AdamStep& step, std::span<const double* const> inputs, const DoubleMatrix& slopes,
                MovedMatrix& moved, DoubleMatrix& back) {
  std::size_t row = 0;
  for (; row + kTileWeights <= moved.value.rows(); row += kTileWeights)
    step_rows<kTileWeights>(step, inputs, slopes, moved, row, back);
  for (; row < moved.value.rows(); ++row) step_rows<1>(step, inputs, slopes, moved, row, back);
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfrost {

HWY_EXPORT(multiply);
HWY_EXPORT(invert_sigmoids);
HWY_EXPORT(squared_deviation);
HWY_EXPORT(multiply_floats);
HWY_EXPORT(invert_float_sigmoids);
HWY_EXPORT(float_squared_deviation);
HWY_EXPORT(squared_norm);
HWY_EXPORT(add_squares);
HWY_EXPORT(step_adam_row);
HWY_EXPORT(step_layer);

void multiply(const DoubleMatrix& a, const DoubleMatrix& b, std::span<const double> bias,
              std::span<const std::size_t> rows, DoubleMatrix& results) {
  assert(b.rows() <= a.cols() && results.rows() == a.rows());
  assert(results.cols() == b.cols() && bias.size() == b.cols());
  if (!rows.empty()) HWY_DYNAMIC_DISPATCH(multiply)(a, b, bias, rows, results);
}

void multiply(const FloatMatrix& a, const FloatMatrix& b, std::span<const float> bias,
              std::span<const std::size_t> rows, FloatMatrix& results) {
  assert(b.rows() <= a.cols() && results.rows() == a.rows());
  assert(results.cols() == b.cols() && bias.size() == b.cols());
  if (!rows.empty()) HWY_DYNAMIC_DISPATCH(multiply_floats)(a, b, bias, rows, results);
}

double invert_sigmoids(std::span<double> row) {
  return HWY_DYNAMIC_DISPATCH(invert_sigmoids)(row.data(), row.size());
}

double squared_deviation(std::span<const double> prompt, std::span<const double> centroid,
                         std::span<const double> inverse_spread) {
  return HWY_DYNAMIC_DISPATCH(squared_deviation)(prompt.data(), centroid.data(), inverse_spread.data(),
                                                 prompt.size());
}

SpreadSums invert_sigmoids(std::span<const float> centroid, std::span<float> row) {
  return HWY_DYNAMIC_DISPATCH(invert_float_sigmoids)(centroid.data(), row.data(), row.size());
}

float squared_deviation(std::span<const float> prompt, std::span<const float> centroid,
                        std::span<const float> inverse_spread) {
  return HWY_DYNAMIC_DISPATCH(float_squared_deviation)(prompt.data(), centroid.data(), inverse_spread.data(),
                                                       prompt.size());
}

float squared_norm(std::span<const float> row) {
  return HWY_DYNAMIC_DISPATCH(squared_norm)(row.data(), row.size());
}

void add_squares(std::span<const float> row, std::span<float> sums) {
  HWY_DYNAMIC_DISPATCH(add_squares)(row.data(), row.size(), sums.data());
}

void MovedMatrix::round() {
  for (std::size_t r = 0; r < rounded.rows(); ++r)
    for (std::size_t c = 0; c < rounded.cols(); ++c) rounded(r, c) = static_cast<float>(value(r, c));
}

AdamStep::AdamStep(double rate, std::size_t steps)
    : size(rate / (1 - std::pow(kAdamBeta1, static_cast<double>(steps)))),
      inverse_root(1 / std::sqrt(1 - std::pow(kAdamBeta2, static_cast<double>(steps)))) {}

void step_adam_row(const AdamStep& step, std::span<const double> weights, MatrixView<const double> rows,
                   const AdamRow& row) {
  assert(weights.size() <= rows.rows());
  HWY_DYNAMIC_DISPATCH(step_adam_row)(step, weights, rows, row);
}

void step_layer(const AdamStep& step, std::span<const double* const> inputs, const DoubleMatrix& slopes,
                MovedMatrix& moved, DoubleMatrix& back) {
  assert(inputs.size() == slopes.rows() && slopes.cols() == moved.value.cols());
  assert(back.rows() == slopes.rows() && back.cols() == moved.value.rows());
  HWY_DYNAMIC_DISPATCH(step_layer)(step, inputs, slopes, moved, back);
}

}  // namespace dfrost
#endif

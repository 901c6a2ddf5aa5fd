// The kernels that add rows to rows, and the two reductions of single rows.
#include "ot/row_kernels.h"

#include <algorithm>
#include <cassert>

// Highway compiles this file once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ot/row_sums.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ot/row_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// kOut rows of sums from row `first`, all columns, over a block of source rows.
template <std::size_t kOut, class Source, class T>
HWY_INLINE void add_weighted_block(const PaddedMatrix<Source>& source, std::span<const std::size_t> rows,
                                   const T* weights, std::size_t weights_stride, std::size_t first,
                                   PaddedMatrix<T>& sums) {
  const Tag<T> tag;
  using Vector = hn::Vec<Tag<T>>;
  const std::size_t lanes = hn::Lanes(tag);
  constexpr std::size_t kVectors = 2;
  const std::size_t length = sums.padded_cols();
  for (std::size_t c = 0; c < length; c += kVectors * lanes) {
    // An odd last vector is computed twice rather than read past the row.
    const std::size_t second = c + lanes < length ? lanes : 0;
    Vector total[kOut][kVectors];
    for (std::size_t i = 0; i < kOut; ++i) {
      total[i][0] = hn::Load(tag, sums.row(first + i).data() + c);
      total[i][1] = hn::Load(tag, sums.row(first + i).data() + c + second);
    }
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Source* from = source.row(rows[k]).data() + c;
      const Vector left = load<T>(from);
      const Vector right = load<T>(from + second);
      for (std::size_t i = 0; i < kOut; ++i) {
        const Vector weight = hn::Set(tag, weights[k * weights_stride + i]);
        total[i][0] = hn::MulAdd(weight, left, total[i][0]);
        total[i][1] = hn::MulAdd(weight, right, total[i][1]);
      }
    }
    for (std::size_t i = 0; i < kOut; ++i) {
      hn::Store(total[i][0], tag, sums.row(first + i).data() + c);
      hn::Store(total[i][1], tag, sums.row(first + i).data() + c + second);
    }
  }
}

template <class Source, class T>
HWY_INLINE void add_weighted(const PaddedMatrix<Source>& source, std::span<const std::size_t> rows,
                             const PaddedMatrix<T>& weights, PaddedMatrix<T>& sums) {
  // Source rows are taken in blocks, so that a walk along their columns stays within few pages.
  constexpr std::size_t kBlock = 64;
  const std::size_t stride = weights.stride();
  for (std::size_t k = 0; k < rows.size(); k += kBlock) {
    const auto block = rows.subspan(k, std::min(kBlock, rows.size() - k));
    std::size_t i = 0;
    const auto take = [&]<std::size_t kOut>() {
      add_weighted_block<kOut>(source, block, weights.row(k).data() + i, stride, i, sums);
      i += kOut;
    };
    while (i + 5 <= sums.rows()) take.template operator()<5>();
    if (i + 2 <= sums.rows()) take.template operator()<2>();
    if (i + 2 <= sums.rows()) take.template operator()<2>();
    if (i < sums.rows()) take.template operator()<1>();
  }
}

void add_weighted_rows(const DoubleMatrix& source, std::span<const std::size_t> rows,
                       const DoubleMatrix& weights, DoubleMatrix& sums) {
  add_weighted(source, rows, weights, sums);
}
void add_weighted_widened_rows(const FloatMatrix& source, std::span<const std::size_t> rows,
                               const DoubleMatrix& weights, DoubleMatrix& sums) {
  add_weighted(source, rows, weights, sums);
}
void add_weighted_float_rows(const FloatMatrix& source, std::span<const std::size_t> rows,
                             const FloatMatrix& weights, FloatMatrix& sums) {
  add_weighted(source, rows, weights, sums);
}

template <class T>
HWY_INLINE void add_scaled(std::span<const T> from, double scale, std::span<double> to) {
  const Doubles tag;
  const auto factor = hn::Set(tag, scale);
  for (std::size_t k = 0; k < to.size(); k += hn::Lanes(tag)) {
    hn::Store(hn::MulAdd(factor, load<double>(from.data() + k), hn::Load(tag, to.data() + k)), tag,
              to.data() + k);
  }
}

void add_scaled_row(std::span<const double> from, double scale, std::span<double> to) {
  add_scaled(from, scale, to);
}
void add_scaled_float_row(std::span<const float> from, double scale, std::span<double> to) {
  add_scaled(from, scale, to);
}

double dot(std::span<const double> a, std::span<const double> b) {
  const Doubles tag;
  const std::size_t lanes = hn::Lanes(tag);
  auto even = hn::Zero(tag), odd = hn::Zero(tag);
  std::size_t k = 0;
  for (; k + lanes < a.size(); k += 2 * lanes) {
    even = hn::MulAdd(hn::Load(tag, a.data() + k), hn::Load(tag, b.data() + k), even);
    odd = hn::MulAdd(hn::Load(tag, a.data() + k + lanes), hn::Load(tag, b.data() + k + lanes), odd);
  }
  if (k < a.size()) even = hn::MulAdd(hn::Load(tag, a.data() + k), hn::Load(tag, b.data() + k), even);
  return hn::GetLane(hn::SumOfLanes(tag, hn::Add(even, odd)));
}

double add_matched_row(std::span<const float> from, double scale, std::span<const double> match,
                       std::span<double> to) {
  const Doubles tag;
  const auto factor = hn::Set(tag, scale);
  const std::size_t lanes = hn::Lanes(tag);
  // Two sums, so that an addition need not wait for the one before; an odd last vector joins the first.
  auto even = hn::Zero(tag), odd = hn::Zero(tag);
  const auto visit = [&](std::size_t k, auto& sum) {
    const auto value = load<double>(from.data() + k);
    sum = SquaredDifference::add(value, hn::Load(tag, match.data() + k), sum);
    hn::Store(hn::MulAdd(factor, value, hn::Load(tag, to.data() + k)), tag, to.data() + k);
  };
  std::size_t k = 0;
  for (; k + lanes < to.size(); k += 2 * lanes) {
    visit(k, even);
    visit(k + lanes, odd);
  }
  if (k < to.size()) visit(k, even);
  return hn::GetLane(hn::SumOfLanes(tag, hn::Add(even, odd)));
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfrost {

HWY_EXPORT(add_weighted_rows);
HWY_EXPORT(add_weighted_widened_rows);
HWY_EXPORT(add_weighted_float_rows);
HWY_EXPORT(add_scaled_row);
HWY_EXPORT(add_scaled_float_row);
HWY_EXPORT(dot);
HWY_EXPORT(add_matched_row);

namespace {

bool can_be_weighted(const auto& source, std::span<const std::size_t> rows, const auto& weights,
                     const auto& sums) {
  return sums.cols() == source.cols() && weights.rows() >= rows.size() && weights.cols() >= sums.rows();
}

}  // namespace

void add_weighted_rows(const DoubleMatrix& source, std::span<const std::size_t> rows,
                       const DoubleMatrix& weights, DoubleMatrix& sums) {
  assert(can_be_weighted(source, rows, weights, sums));
  HWY_DYNAMIC_DISPATCH(add_weighted_rows)(source, rows, weights, sums);
}

void add_weighted_rows(const FloatMatrix& source, std::span<const std::size_t> rows,
                       const DoubleMatrix& weights, DoubleMatrix& sums) {
  assert(can_be_weighted(source, rows, weights, sums));
  HWY_DYNAMIC_DISPATCH(add_weighted_widened_rows)(source, rows, weights, sums);
}

void add_weighted_rows(const FloatMatrix& source, std::span<const std::size_t> rows,
                       const FloatMatrix& weights, FloatMatrix& sums) {
  assert(can_be_weighted(source, rows, weights, sums));
  HWY_DYNAMIC_DISPATCH(add_weighted_float_rows)(source, rows, weights, sums);
}

void add_scaled_row(std::span<const double> from, double scale, std::span<double> to) {
  assert(from.size() == to.size());
  HWY_DYNAMIC_DISPATCH(add_scaled_row)(from, scale, to);
}

void add_scaled_row(std::span<const float> from, double scale, std::span<double> to) {
  assert(from.size() == to.size());
  HWY_DYNAMIC_DISPATCH(add_scaled_float_row)(from, scale, to);
}

double dot(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size());
  return HWY_DYNAMIC_DISPATCH(dot)(a, b);
}

double add_matched_row(std::span<const float> from, double scale, std::span<const double> match,
                       std::span<double> to) {
  assert(from.size() == to.size() && match.size() == to.size());
  return HWY_DYNAMIC_DISPATCH(add_matched_row)(from, scale, match, to);
}

}  // namespace dfrost
#endif

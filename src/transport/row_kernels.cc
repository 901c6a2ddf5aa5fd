#include "transport/row_kernels.h"

#include <algorithm>
#include <cassert>

// Highway compiles this file once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transport/row_kernels.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whole rows are read as vectors of T, which never reach beyond a row's padding.
template <class T>
using Tag = hn::CappedTag<T, PaddedMatrix<T>::kPadding>;
using Doubles = Tag<double>;

// A vector of T, widened where it is stored as float and computed on as double.
template <class T, class Stored>
HWY_INLINE hn::Vec<Tag<T>> load(const Stored* from) {
  const Tag<T> tag;
  if constexpr (sizeof(T) == sizeof(Stored)) {
    return hn::Load(tag, from);
  } else {
    return hn::PromoteTo(tag, hn::Load(hn::Rebind<Stored, Tag<T>>(), from));
  }
}

struct Product {
  template <class Vector>
  static HWY_INLINE Vector add(Vector a, Vector b, Vector sum) {
    return hn::MulAdd(a, b, sum);
  }
};
struct SquaredDifference {
  template <class Vector>
  static HWY_INLINE Vector add(Vector a, Vector b, Vector sum) {
    const Vector difference = hn::Sub(a, b);
    return hn::MulAdd(difference, difference, sum);
  }
};

// Reduces kA rows against kB rows at once: each loaded vector is used kB or kA times, and kA·kB independent
// sums hide the latency of the multiply-add. 12 sums and the operands just fit in 16 registers.
template <class Op, class A, class B, class Result, std::size_t kA, std::size_t kB>
HWY_INLINE void reduce_tile(const A* const (&a)[kA], const B* const (&b)[kB], std::size_t length,
                            Result (&result)[kA][kB]) {
  const Tag<Result> tag;
  using Vector = hn::Vec<Tag<Result>>;
  Vector sums[kA][kB];
  for (auto& row : sums) {
    for (auto& sum : row) sum = hn::Zero(tag);
  }
  for (std::size_t k = 0; k < length; k += hn::Lanes(tag)) {
    Vector from_b[kB];
    for (std::size_t j = 0; j < kB; ++j) from_b[j] = load<Result>(b[j] + k);
    for (std::size_t i = 0; i < kA; ++i) {
      const Vector from_a = load<Result>(a[i] + k);
      for (std::size_t j = 0; j < kB; ++j) sums[i][j] = Op::add(from_a, from_b[j], sums[i][j]);
    }
  }
  for (std::size_t i = 0; i < kA; ++i) {
    for (std::size_t j = 0; j < kB; ++j) result[i][j] = hn::GetLane(hn::SumOfLanes(tag, sums[i][j]));
  }
}

// Past the last row a tile repeats the last row; what comes of it is not stored.
template <class T, std::size_t kCount>
HWY_INLINE void point_at_rows(const PaddedMatrix<T>& matrix, std::size_t first, const T* (&rows)[kCount]) {
  for (std::size_t r = 0; r < kCount; ++r)
    rows[r] = matrix.row(std::min(first + r, matrix.rows() - 1)).data();
}

void Gram(const Matrix& rows, Matrix& products) {
  constexpr std::size_t kA = 4, kB = 3;
  // So many rows of 768 stay in a 512 KiB second-level cache while all others pass over them.
  constexpr std::size_t kBlock = 48;
  const std::size_t count = rows.rows();
  for (std::size_t block = 0; block < count; block += kBlock) {
    const std::size_t block_end = std::min(block + kBlock, count);
    for (std::size_t i = block / kA * kA; i < count; i += kA) {
      const double* a[kA];
      point_at_rows(rows, i, a);
      for (std::size_t j = block; j < std::min(block_end, i + kA); j += kB) {
        const double* b[kB];
        point_at_rows(rows, j, b);
        double tile[kA][kB];
        reduce_tile<Product>(a, b, rows.padded_cols(), tile);
        for (std::size_t r = i; r < std::min(i + kA, count); ++r) {
          for (std::size_t c = j; c < std::min(j + kB, block_end); ++c) {
            if (c <= r) products(r, c) = products(c, r) = tile[r - i][c - j];
          }
        }
      }
    }
  }
}

// Every row of a against every row of b, as far as `results` has room.
template <class Op, class A, class B, class Result>
HWY_INLINE void reduce_all(const PaddedMatrix<A>& a, const PaddedMatrix<B>& b,
                           PaddedMatrix<Result>& results) {
  constexpr std::size_t kA = 2, kB = 5;  // 10 prompts are the common case, and 2 and 5 divide it
  const std::size_t rows = results.rows(), cols = results.cols();
  const std::size_t length = std::min(a.padded_cols(), b.padded_cols());
  for (std::size_t j = 0; j < cols; j += kB) {
    const B* from_b[kB];
    point_at_rows(b, j, from_b);
    for (std::size_t i = 0; i < rows; i += kA) {
      const A* from_a[kA];
      point_at_rows(a, i, from_a);
      Result tile[kA][kB];
      reduce_tile<Op>(from_a, from_b, length, tile);
      for (std::size_t r = i; r < std::min(i + kA, rows); ++r) {
        for (std::size_t c = j; c < std::min(j + kB, cols); ++c) results(r, c) = tile[r - i][c - j];
      }
    }
  }
}

void SquaredDistances(const Matrix& a, const Matrix& b, Matrix& distances) {
  reduce_all<SquaredDifference>(a, b, distances);
}
void Products(const Matrix& a, const Matrix& b, Matrix& results) { reduce_all<Product>(a, b, results); }
void FloatProducts(const FloatMatrix& a, const FloatMatrix& b, FloatMatrix& results) {
  reduce_all<Product>(a, b, results);
}
void WidenedProducts(const Matrix& a, const FloatMatrix& b, Matrix& results) {
  reduce_all<Product>(a, b, results);
}

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

void AddWeightedRows(const Matrix& source, std::span<const std::size_t> rows, const Matrix& weights,
                     Matrix& sums) {
  add_weighted(source, rows, weights, sums);
}
void AddWeightedWidenedRows(const FloatMatrix& source, std::span<const std::size_t> rows,
                            const Matrix& weights, Matrix& sums) {
  add_weighted(source, rows, weights, sums);
}
void AddWeightedFloatRows(const FloatMatrix& source, std::span<const std::size_t> rows,
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

void AddScaledRow(std::span<const double> from, double scale, std::span<double> to) {
  add_scaled(from, scale, to);
}
void AddScaledFloatRow(std::span<const float> from, double scale, std::span<double> to) {
  add_scaled(from, scale, to);
}

double Dot(std::span<const double> a, std::span<const double> b) {
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

double AddMatchedRow(std::span<const float> from, double scale, std::span<const double> match,
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

HWY_EXPORT(Gram);
HWY_EXPORT(SquaredDistances);
HWY_EXPORT(Products);
HWY_EXPORT(FloatProducts);
HWY_EXPORT(WidenedProducts);
HWY_EXPORT(AddWeightedRows);
HWY_EXPORT(AddWeightedWidenedRows);
HWY_EXPORT(AddWeightedFloatRows);
HWY_EXPORT(AddScaledRow);
HWY_EXPORT(AddScaledFloatRow);
HWY_EXPORT(Dot);
HWY_EXPORT(AddMatchedRow);

namespace {

bool fit_together(const auto& a, const auto& b, const auto& results) {
  return a.cols() == b.cols() && results.rows() <= a.rows() && results.cols() <= b.rows();
}

bool can_be_weighted(const auto& source, std::span<const std::size_t> rows, const auto& weights,
                     const auto& sums) {
  return sums.cols() == source.cols() && weights.rows() >= rows.size() && weights.cols() >= sums.rows();
}

}  // namespace

void gram(const Matrix& rows, Matrix& products) {
  assert(products.rows() == rows.rows() && products.cols() == rows.rows());
  HWY_DYNAMIC_DISPATCH(Gram)(rows, products);
}

void squared_distances(const Matrix& a, const Matrix& b, Matrix& distances) {
  assert(fit_together(a, b, distances));
  HWY_DYNAMIC_DISPATCH(SquaredDistances)(a, b, distances);
}

void products(const Matrix& a, const Matrix& b, Matrix& results) {
  assert(fit_together(a, b, results));
  HWY_DYNAMIC_DISPATCH(Products)(a, b, results);
}

void products(const FloatMatrix& a, const FloatMatrix& b, FloatMatrix& results) {
  assert(fit_together(a, b, results));
  HWY_DYNAMIC_DISPATCH(FloatProducts)(a, b, results);
}

void products(const Matrix& a, const FloatMatrix& b, Matrix& results) {
  assert(fit_together(a, b, results));
  HWY_DYNAMIC_DISPATCH(WidenedProducts)(a, b, results);
}

void add_weighted_rows(const Matrix& source, std::span<const std::size_t> rows, const Matrix& weights,
                       Matrix& sums) {
  assert(can_be_weighted(source, rows, weights, sums));
  HWY_DYNAMIC_DISPATCH(AddWeightedRows)(source, rows, weights, sums);
}

void add_weighted_rows(const FloatMatrix& source, std::span<const std::size_t> rows, const Matrix& weights,
                       Matrix& sums) {
  assert(can_be_weighted(source, rows, weights, sums));
  HWY_DYNAMIC_DISPATCH(AddWeightedWidenedRows)(source, rows, weights, sums);
}

void add_weighted_rows(const FloatMatrix& source, std::span<const std::size_t> rows,
                       const FloatMatrix& weights, FloatMatrix& sums) {
  assert(can_be_weighted(source, rows, weights, sums));
  HWY_DYNAMIC_DISPATCH(AddWeightedFloatRows)(source, rows, weights, sums);
}

void add_scaled_row(std::span<const double> from, double scale, std::span<double> to) {
  assert(from.size() == to.size());
  HWY_DYNAMIC_DISPATCH(AddScaledRow)(from, scale, to);
}

void add_scaled_row(std::span<const float> from, double scale, std::span<double> to) {
  assert(from.size() == to.size());
  HWY_DYNAMIC_DISPATCH(AddScaledFloatRow)(from, scale, to);
}

double dot(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size());
  return HWY_DYNAMIC_DISPATCH(Dot)(a, b);
}

double add_matched_row(std::span<const float> from, double scale, std::span<const double> match,
                       std::span<double> to) {
  assert(from.size() == to.size() && match.size() == to.size());
  return HWY_DYNAMIC_DISPATCH(AddMatchedRow)(from, scale, match, to);
}

}  // namespace dfrost
#endif

// The kernels that reduce rows against rows: to products and distances.
#include "ot/row_kernels.h"

#include <algorithm>
#include <cassert>

// Highway compiles this file once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ot/row_products.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ot/row_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Product {
  template <class Vector>
  static HWY_INLINE Vector add(Vector a, Vector b, Vector sum) {
    return hn::MulAdd(a, b, sum);
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

void gram(const DoubleMatrix& rows, DoubleMatrix& products) {
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

void squared_distances(const DoubleMatrix& a, const DoubleMatrix& b, DoubleMatrix& distances) {
  reduce_all<SquaredDifference>(a, b, distances);
}
void products(const DoubleMatrix& a, const DoubleMatrix& b, DoubleMatrix& results) {
  reduce_all<Product>(a, b, results);
}
void float_products(const FloatMatrix& a, const FloatMatrix& b, FloatMatrix& results) {
  reduce_all<Product>(a, b, results);
}
void widened_products(const DoubleMatrix& a, const FloatMatrix& b, DoubleMatrix& results) {
  reduce_all<Product>(a, b, results);
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfrost {

HWY_EXPORT(gram);
HWY_EXPORT(squared_distances);
HWY_EXPORT(products);
HWY_EXPORT(float_products);
HWY_EXPORT(widened_products);

namespace {

bool fit_together(const auto& a, const auto& b, const auto& results) {
  return a.cols() == b.cols() && results.rows() <= a.rows() && results.cols() <= b.rows();
}

}  // namespace

void gram(const DoubleMatrix& rows, DoubleMatrix& products) {
  assert(products.rows() == rows.rows() && products.cols() == rows.rows());
  HWY_DYNAMIC_DISPATCH(gram)(rows, products);
}

void squared_distances(const DoubleMatrix& a, const DoubleMatrix& b, DoubleMatrix& distances) {
  assert(fit_together(a, b, distances));
  HWY_DYNAMIC_DISPATCH(squared_distances)(a, b, distances);
}

void products(const DoubleMatrix& a, const DoubleMatrix& b, DoubleMatrix& results) {
  assert(fit_together(a, b, results));
  HWY_DYNAMIC_DISPATCH(products)(a, b, results);
}

void products(const FloatMatrix& a, const FloatMatrix& b, FloatMatrix& results) {
  assert(fit_together(a, b, results));
  HWY_DYNAMIC_DISPATCH(float_products)(a, b, results);
}

void products(const DoubleMatrix& a, const FloatMatrix& b, DoubleMatrix& results) {
  assert(fit_together(a, b, results));
  HWY_DYNAMIC_DISPATCH(widened_products)(a, b, results);
}

}  // namespace dfrost
#endif

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

using Doubles = hn::CappedTag<double, Matrix::kPadding>;
using Vector = hn::Vec<Doubles>;

struct Product {
  static HWY_INLINE Vector add(Vector a, Vector b, Vector sum) { return hn::MulAdd(a, b, sum); }
};
struct SquaredDifference {
  static HWY_INLINE Vector add(Vector a, Vector b, Vector sum) {
    const Vector difference = hn::Sub(a, b);
    return hn::MulAdd(difference, difference, sum);
  }
};

// Reduces kA rows against kB rows at once: each loaded vector is used kB or kA times, and kA·kB independent
// sums hide the latency of the multiply-add. 12 sums and the operands just fit in 16 registers.
template <class Op, std::size_t kA, std::size_t kB>
HWY_INLINE void reduce_tile(const double* const (&a)[kA], const double* const (&b)[kB], std::size_t length,
                            double (&result)[kA][kB]) {
  const Doubles tag;
  Vector sums[kA][kB];
  for (auto& row : sums) {
    for (auto& sum : row) sum = hn::Zero(tag);
  }
  for (std::size_t k = 0; k < length; k += hn::Lanes(tag)) {
    Vector from_b[kB];
    for (std::size_t j = 0; j < kB; ++j) from_b[j] = hn::Load(tag, b[j] + k);
    for (std::size_t i = 0; i < kA; ++i) {
      const Vector from_a = hn::Load(tag, a[i] + k);
      for (std::size_t j = 0; j < kB; ++j) sums[i][j] = Op::add(from_a, from_b[j], sums[i][j]);
    }
  }
  for (std::size_t i = 0; i < kA; ++i) {
    for (std::size_t j = 0; j < kB; ++j) result[i][j] = hn::GetLane(hn::SumOfLanes(tag, sums[i][j]));
  }
}

// Past the last row a tile repeats the last row; what comes of it is not stored.
template <std::size_t kCount>
HWY_INLINE void point_at_rows(const Matrix& matrix, std::size_t first, const double* (&rows)[kCount]) {
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
        reduce_tile<Product>(a, b, rows.stride(), tile);
        for (std::size_t r = i; r < std::min(i + kA, count); ++r) {
          for (std::size_t c = j; c < std::min(j + kB, block_end); ++c) {
            if (c <= r) products(r, c) = products(c, r) = tile[r - i][c - j];
          }
        }
      }
    }
  }
}

void SquaredDistances(const Matrix& a, const Matrix& b, Matrix& distances) {
  constexpr std::size_t kA = 2, kB = 5;  // 10 prompts are the common case, and 2 and 5 divide it
  const std::size_t rows = distances.rows(), cols = distances.cols();
  for (std::size_t j = 0; j < cols; j += kB) {
    const double* from_b[kB];
    point_at_rows(b, j, from_b);
    for (std::size_t i = 0; i < rows; i += kA) {
      const double* from_a[kA];
      point_at_rows(a, i, from_a);
      double tile[kA][kB];
      reduce_tile<SquaredDifference>(from_a, from_b, a.stride(), tile);
      for (std::size_t r = i; r < std::min(i + kA, rows); ++r) {
        for (std::size_t c = j; c < std::min(j + kB, cols); ++c) distances(r, c) = tile[r - i][c - j];
      }
    }
  }
}

// kOut rows of sums from row `first`, all columns, over a block of source rows.
template <std::size_t kOut>
void add_weighted_block(const Matrix& source, std::span<const std::size_t> rows, const double* weights,
                        std::size_t weights_stride, std::size_t first, Matrix& sums) {
  const Doubles tag;
  const std::size_t lanes = hn::Lanes(tag);
  constexpr std::size_t kVectors = 2;
  const std::size_t stride = sums.stride();
  for (std::size_t c = 0; c < stride; c += kVectors * lanes) {
    // An odd last vector is computed twice rather than read past the row.
    const std::size_t second = c + lanes < stride ? lanes : 0;
    Vector total[kOut][kVectors];
    for (std::size_t i = 0; i < kOut; ++i) {
      total[i][0] = hn::Load(tag, sums.row(first + i).data() + c);
      total[i][1] = hn::Load(tag, sums.row(first + i).data() + c + second);
    }
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const double* from = source.row(rows[k]).data() + c;
      const Vector left = hn::Load(tag, from);
      const Vector right = hn::Load(tag, from + second);
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

void AddWeightedRows(const Matrix& source, std::span<const std::size_t> rows, const Matrix& weights,
                     Matrix& sums) {
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

void AddScaledRow(std::span<const double> from, double scale, std::span<double> to) {
  const Doubles tag;
  const Vector factor = hn::Set(tag, scale);
  for (std::size_t k = 0; k < to.size(); k += hn::Lanes(tag)) {
    hn::Store(hn::MulAdd(factor, hn::Load(tag, from.data() + k), hn::Load(tag, to.data() + k)), tag,
              to.data() + k);
  }
}

void WidenRow(std::span<const float> from, std::span<double> to) {
  const Doubles tag;
  const hn::Rebind<float, Doubles> narrow;
  std::size_t k = 0;
  for (; k + hn::Lanes(tag) <= from.size(); k += hn::Lanes(tag)) {
    hn::Store(hn::PromoteTo(tag, hn::LoadU(narrow, from.data() + k)), tag, to.data() + k);
  }
  for (; k < from.size(); ++k) to[k] = from[k];
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfrost {

HWY_EXPORT(Gram);
HWY_EXPORT(SquaredDistances);
HWY_EXPORT(AddWeightedRows);
HWY_EXPORT(AddScaledRow);
HWY_EXPORT(WidenRow);

void gram(const Matrix& rows, Matrix& products) {
  assert(products.rows() == rows.rows() && products.cols() == rows.rows());
  HWY_DYNAMIC_DISPATCH(Gram)(rows, products);
}

void squared_distances(const Matrix& a, const Matrix& b, Matrix& distances) {
  assert(a.cols() == b.cols() && distances.rows() <= a.rows() && distances.cols() <= b.rows());
  HWY_DYNAMIC_DISPATCH(SquaredDistances)(a, b, distances);
}

void add_weighted_rows(const Matrix& source, std::span<const std::size_t> rows, const Matrix& weights,
                       Matrix& sums) {
  assert(sums.cols() == source.cols() && weights.rows() >= rows.size() && weights.cols() >= sums.rows());
  HWY_DYNAMIC_DISPATCH(AddWeightedRows)(source, rows, weights, sums);
}

void add_scaled_row(std::span<const double> from, double scale, std::span<double> to) {
  assert(from.size() == to.size());
  HWY_DYNAMIC_DISPATCH(AddScaledRow)(from, scale, to);
}

void widen_row(std::span<const float> from, std::span<double> to) {
  assert(from.size() == to.size());
  HWY_DYNAMIC_DISPATCH(WidenRow)(from, to);
}

}  // namespace dfrost
#endif

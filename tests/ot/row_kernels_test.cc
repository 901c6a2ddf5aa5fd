#include "ot/row_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "ot/row_kernels_reference.h"
#include "support/numbers.h"

namespace dfrost {
namespace {

void expect_close(const DoubleMatrix& a, const DoubleMatrix& b, double tolerance) {
  for (std::size_t r = 0; r < a.rows(); ++r) {
    for (std::size_t c = 0; c < a.cols(); ++c) {
      EXPECT_NEAR(a(r, c), b(r, c), tolerance * (1 + std::abs(b(r, c)))) << r << ", " << c;
    }
  }
}

// Sizes below, at and above every tile and vector length.
constexpr std::size_t kRows[] = {1, 2, 3, 4, 5, 7, 10, 49, 101};
constexpr std::size_t kWidths[] = {1, 3, 8, 17, 200};

TEST(RowKernels, GramEqualsTheObviousLoopAndIsSymmetric) {
  RandomStream random(1, "gram");
  for (const std::size_t rows : kRows) {
    for (const std::size_t width : kWidths) {
      const DoubleMatrix points(test::random_points(rows, width, random).view());
      DoubleMatrix fast(rows, rows), slow(rows, rows);
      gram(points, fast);
      reference::gram(points, slow);
      expect_close(fast, slow, 1e-13);
      for (std::size_t a = 0; a < rows; ++a) {
        for (std::size_t b = 0; b < a; ++b) EXPECT_EQ(fast(a, b), fast(b, a));
      }
    }
  }
}

TEST(RowKernels, SquaredDistancesEqualTheObviousLoop) {
  RandomStream random(1, "distances");
  for (const std::size_t rows : kRows) {
    for (const std::size_t width : kWidths) {
      const DoubleMatrix a(test::random_points(rows, width, random).view());
      const DoubleMatrix b(test::random_points(1 + rows / 2, width, random).view());
      DoubleMatrix fast(a.rows(), b.rows()), slow(a.rows(), b.rows());
      squared_distances(a, b, fast);
      reference::squared_distances(a, b, slow);
      expect_close(fast, slow, 1e-13);
    }
  }
}

TEST(RowKernels, SquaredDistancesKeepTheirDigitsFarFromTheOrigin) {
  const test::Points a(1, 2, {1e15f, 1e15f}), b(1, 2, {1e15f, std::nextafter(1e15f, 2e15f)});
  DoubleMatrix distances(1, 1);
  squared_distances(DoubleMatrix(a.view()), DoubleMatrix(b.view()), distances);
  EXPECT_EQ(distances(0, 0), std::pow(67108864.0, 2));  // one unit in the last place of 1e15f
}

TEST(RowKernels, WeightedRowsEqualTheObviousLoop) {
  RandomStream random(1, "rows");
  for (const std::size_t rows : kRows) {
    for (const std::size_t width : kWidths) {
      for (const std::size_t outputs : {1, 2, 4, 5, 8, 11}) {
        const DoubleMatrix source(test::random_points(rows, width, random).view());
        std::vector<std::size_t> some;
        for (std::size_t r = 0; r < rows; r += 1 + random.below(2)) some.push_back(r);
        const DoubleMatrix weights(test::random_points(some.size(), outputs, random).view());
        DoubleMatrix fast(test::random_points(outputs, width, random).view());
        DoubleMatrix slow = fast;
        add_weighted_rows(source, some, weights, fast);
        reference::add_weighted_rows(source, some, weights, slow);
        expect_close(fast, slow, 1e-13);
      }
    }
  }
}

FloatMatrix floats_of(const DoubleMatrix& values) {
  FloatMatrix result(values.rows(), values.cols());
  for (std::size_t r = 0; r < values.rows(); ++r) {
    for (std::size_t c = 0; c < values.cols(); ++c) result(r, c) = static_cast<float>(values(r, c));
  }
  return result;
}

DoubleMatrix doubles_of(const FloatMatrix& values) {
  DoubleMatrix result(values.rows(), values.cols());
  for (std::size_t r = 0; r < values.rows(); ++r) std::ranges::copy(values.row(r), result.row(r).begin());
  return result;
}

TEST(RowKernels, ProductsInEitherPrecisionEqualTheObviousLoop) {
  RandomStream random(2, "products");
  for (const std::size_t rows : kRows) {
    for (const std::size_t width : kWidths) {
      const DoubleMatrix a(test::random_points(rows, width, random).view());
      const DoubleMatrix b(test::random_points(1 + rows / 2, width, random).view());
      const FloatMatrix float_a = floats_of(a), float_b = floats_of(b);
      DoubleMatrix slow(a.rows(), b.rows()), fast = slow, widened = slow;
      FloatMatrix in_floats(a.rows(), b.rows());
      reference::products(a, b, slow);
      products(a, b, fast);
      products(a, float_b, widened);
      products(float_a, float_b, in_floats);
      expect_close(fast, slow, 1e-13);
      expect_close(widened, slow, 1e-13);
      expect_close(doubles_of(in_floats), slow, 1e-4);
    }
  }
}

TEST(RowKernels, WeightedFloatRowsEqualTheObviousLoopInEitherPrecision) {
  RandomStream random(3, "float rows");
  for (const std::size_t rows : kRows) {
    for (const std::size_t width : kWidths) {
      const DoubleMatrix source(test::random_points(rows, width, random).view());
      const DoubleMatrix weights(test::random_points(rows, 7, random).view());
      std::vector<std::size_t> all(rows);
      std::iota(all.begin(), all.end(), std::size_t{0});
      DoubleMatrix slow(7, width), widened = slow;
      FloatMatrix in_floats(7, width);
      reference::add_weighted_rows(source, all, weights, slow);
      add_weighted_rows(floats_of(source), all, weights, widened);
      add_weighted_rows(floats_of(source), all, floats_of(weights), in_floats);
      expect_close(widened, slow, 1e-13);
      expect_close(doubles_of(in_floats), slow, 1e-4);
    }
  }
}

TEST(RowKernels, AMatchedRowIsAddedAndItsDistanceReturned) {
  RandomStream random(4, "matched");
  for (const std::size_t width : kWidths) {
    const DoubleMatrix rows(test::random_points(3, width, random).view());
    const FloatMatrix from = floats_of(rows);
    DoubleMatrix sums = rows, plain = rows, distance(1, 1);
    const DoubleMatrix match(test::random_points(1, width, random).view());
    const double found = add_matched_row(from.row(1), 0.3, match.row(0), sums.row(2));
    add_scaled_row(from.row(1), 0.3, plain.row(2));
    for (std::size_t c = 0; c < width; ++c) {
      EXPECT_NEAR(sums(2, c), rows(2, c) + 0.3 * rows(1, c), 1e-14 * (1 + std::abs(sums(2, c))));
      EXPECT_EQ(plain(2, c), sums(2, c));
    }
    DoubleMatrix second(1, width);
    std::ranges::copy(rows.row(1), second.row(0).begin());
    reference::squared_distances(second, match, distance);
    EXPECT_NEAR(found, distance(0, 0), 1e-13 * (1 + found));
    reference::products(second, match, distance);
    EXPECT_NEAR(dot(rows.row(1), match.row(0)), distance(0, 0), 1e-12);
  }
}

}  // namespace
}  // namespace dfrost

#include "transport/row_kernels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/numbers.h"
#include "transport/row_kernels_reference.h"

namespace dfrost {
namespace {

void expect_close(const Matrix& a, const Matrix& b, double tolerance) {
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
      const Matrix points(test::random_points(rows, width, random).view());
      Matrix fast(rows, rows), slow(rows, rows);
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
      const Matrix a(test::random_points(rows, width, random).view());
      const Matrix b(test::random_points(1 + rows / 2, width, random).view());
      Matrix fast(a.rows(), b.rows()), slow(a.rows(), b.rows());
      squared_distances(a, b, fast);
      reference::squared_distances(a, b, slow);
      expect_close(fast, slow, 1e-13);
    }
  }
}

TEST(RowKernels, SquaredDistancesKeepTheirDigitsFarFromTheOrigin) {
  const test::Points a(1, 2, {1e15f, 1e15f}), b(1, 2, {1e15f, std::nextafter(1e15f, 2e15f)});
  Matrix distances(1, 1);
  squared_distances(Matrix(a.view()), Matrix(b.view()), distances);
  EXPECT_EQ(distances(0, 0), std::pow(67108864.0, 2));  // one unit in the last place of 1e15f
}

TEST(RowKernels, WeightedRowsEqualTheObviousLoop) {
  RandomStream random(1, "rows");
  for (const std::size_t rows : kRows) {
    for (const std::size_t width : kWidths) {
      for (const std::size_t outputs : {1, 2, 4, 5, 8, 11}) {
        const Matrix source(test::random_points(rows, width, random).view());
        std::vector<std::size_t> some;
        for (std::size_t r = 0; r < rows; r += 1 + random.below(2)) some.push_back(r);
        const Matrix weights(test::random_points(some.size(), outputs, random).view());
        Matrix fast(test::random_points(outputs, width, random).view());
        Matrix slow = fast;
        add_weighted_rows(source, some, weights, fast);
        reference::add_weighted_rows(source, some, weights, slow);
        expect_close(fast, slow, 1e-13);
      }
    }
  }
}

}  // namespace
}  // namespace dfrost

#include "kernels/small_product.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace dfrost {
namespace {

// The plain loop in double; element (r, c) of an operand is found through its transposition.
double element(MatrixView<const float> m, Transpose t, std::size_t r, std::size_t c) {
  return static_cast<double>(t == Transpose::no ? m(r, c) : m(c, r));
}

TEST(SmallProduct, AgreesWithThePlainLoopWhateverIsTransposedScaledOrAddedTo) {
  constexpr std::size_t kRows = 5, kCols = 19, kInner = 33, kStride = 64;  // views into wider matrices
  RandomStream stream(1, "matrices");
  std::vector<float> a(kStride * kStride), b(a.size()), start(a.size());
  for (auto* values : {&a, &b, &start}) {
    for (float& value : *values) value = static_cast<float>(stream.normal());
  }
  const auto view = [](const std::vector<float>& values, Transpose t, std::size_t rows, std::size_t cols) {
    return t == Transpose::no ? MatrixView<const float>(values.data(), rows, cols, kStride)
                              : MatrixView<const float>(values.data(), cols, rows, kStride);
  };
  for (const auto ta : {Transpose::no, Transpose::yes}) {
    for (const auto tb : {Transpose::no, Transpose::yes}) {
      for (const bool accumulate : {false, true}) {
        auto out = start;
        const auto left = view(a, ta, kRows, kInner), right = view(b, tb, kInner, kCols);
        const MatrixView<float> result(out.data(), kRows, kCols, kStride);
        small_product(ta, tb, left, right, result, {.scale = 0.5f, .accumulate = accumulate});
        for (std::size_t r = 0; r < kStride; ++r) {
          for (std::size_t c = 0; c < kStride; ++c) {
            double expected = static_cast<double>(start[r * kStride + c]);
            if (r < kRows && c < kCols) {
              if (!accumulate) expected = 0;
              for (std::size_t k = 0; k < kInner; ++k) {
                expected += 0.5 * element(left, ta, r, k) * element(right, tb, k, c);
              }
            }
            ASSERT_NEAR(out[r * kStride + c], expected, 1e-5) << r << "," << c;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace dfrost

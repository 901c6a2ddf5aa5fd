#include "kernels/bf16_ops.h"

#include <gtest/gtest.h>

#include <array>

#include "base/thread_pool.h"
#include "kernels/bf16_support.h"
#include "kernels/reference.h"
#include "support/amx_emulator.h"

namespace dfrost {
namespace {

using test::doubles_of;
using test::expect_close;
using test::random_bf16_floats;
using test::random_floats;

constexpr double kBf16 = 0x1p-8;  // a bound on one rounding, relative; half of it is the error itself

struct Case {
  Matrix<float> a, w, bias;
  Bf16Ops::Operand packed;
  Bf16Ops::Weights weights;
  Matrix<double> sums;  // a·wᵀ + bias
};

Case make_case(std::size_t m, std::size_t n, std::size_t k) {
  Case c{random_bf16_floats(m, k, 1),
         random_bf16_floats(n, k, 2, 1 / std::sqrt(static_cast<double>(k))),
         random_floats(1, n, 3),
         {},
         {},
         Matrix<double>(m, n)};
  Bf16Ops::pack(c.a, c.packed);
  c.weights = Bf16Ops::Weights(c.w);
  reference::multiply_transposed<double>(doubles_of(c.a), doubles_of(c.w), c.sums);
  for (std::size_t r = 0; r < m; ++r) {
    for (std::size_t j = 0; j < n; ++j) c.sums.row(r)[j] += static_cast<double>(c.bias.row(0)[j]);
  }
  return c;
}

constexpr std::array<std::array<std::size_t, 3>, 4> kProductShapes = {
    {{1, 5, 3}, {60, 64, 96}, {37, 50, 70}, {48, 40, 1100}}};

TEST(Bf16Product, ToFloatsAndAddedToThemIsExactButForTheSumsRounding) {
  const test::Bf16ForTest bf16_here;
  for (const auto& [m, n, k] : kProductShapes) {
    const Case c = make_case(m, n, k);
    auto out = random_floats(m, n, 4);
    auto added = doubles_of(out);
    for (std::size_t i = 0; i < m * n; ++i) added.data()[i] += c.sums.data()[i];
    Bf16Ops::product_add(c.packed, c.weights, c.bias.row(0), out);
    expect_close(doubles_of(out), added, 1e-5, 1e-5);
    for (std::size_t i = 0; i < m * n; ++i) out.data()[i] = 1e9f;
    Bf16Ops::product(c.packed, c.weights, {}, out);
    Matrix<double> without_bias(m, n);
    reference::multiply_transposed<double>(doubles_of(c.a), doubles_of(c.w), without_bias);
    expect_close(doubles_of(out), without_bias, 1e-5, 1e-5);
  }
}

TEST(Bf16Product, BackThroughANormIsTheProductAndThenTheNormToTheBit) {
  const test::Bf16ForTest bf16_here;
  for (const auto& [m, n, k] : kProductShapes) {
    const Case c = make_case(m, n, k);
    Bf16Ops::Operand normalized;
    std::vector<float> inverse_std(m);
    Bf16Ops::normalize(random_floats(m, n, 4, 3), 1e-6f, normalized, inverse_std);
    auto expected = random_floats(m, n, 5), dx = random_floats(m, n, 5);
    Matrix<float> d(m, n);
    Bf16Ops::product(c.packed, c.weights, {}, d);
    Bf16Ops::normalize_backward(d, normalized, inverse_std, expected);
    Bf16Ops::product_normalize_backward(c.packed, c.weights, normalized, inverse_std, dx);
    EXPECT_TRUE(std::equal(dx.data(), dx.data() + m * n, expected.data())) << m << " × " << n << " × " << k;
  }
}

TEST(Bf16Product, ToRowsRoundsOnce) {
  const test::Bf16ForTest bf16_here;
  for (const auto& [m, n, k] : kProductShapes) {
    const Case c = make_case(m, n, k);
    Bf16Ops::Rows out;
    Bf16Ops::product_rows(c.packed, c.weights, c.bias.row(0), out);
    expect_close(doubles_of(out), c.sums, kBf16, 1e-5);
  }
}

TEST(Bf16Product, WithGeluGivesItAndItsDerivative) {
  const test::Bf16ForTest bf16_here;
  for (const auto& [m, n, k] : kProductShapes) {
    const Case c = make_case(m, n, k);
    Bf16Ops::Operand out, without;
    Bf16Ops::Factors slope;
    Bf16Ops::product_gelu(c.packed, c.weights, c.bias.row(0), out, &slope);
    Bf16Ops::product_gelu(c.packed, c.weights, c.bias.row(0), without, nullptr);
    Matrix<double> gelu(m, n), derivative(m, n);
    for (std::size_t i = 0; i < m * n; ++i) {
      gelu.data()[i] = reference::gelu(c.sums.data()[i]);
      derivative.data()[i] = reference::gelu_derivative(c.sums.data()[i]);
    }
    expect_close(doubles_of(out), gelu, kBf16, 1e-5);
    expect_close(doubles_of(without), gelu, kBf16, 1e-5);
    expect_close(doubles_of(slope), derivative, kBf16, 1e-5);
    for (std::size_t r = 0; r < m; ++r) {
      for (std::size_t j = n; j < out.col_tiles() * 32; ++j) ASSERT_EQ(out.at(r, j), 0.0f) << "padding";
    }
  }
}

TEST(Bf16Product, TimesFactorsIsElementByElement) {
  const test::Bf16ForTest bf16_here;
  for (const auto& [m, n, k] : kProductShapes) {
    const Case c = make_case(m, n, k);
    const auto factors = random_bf16_floats(m, n, 5);
    Bf16Ops::Factors packed;
    Bf16Ops::pack(factors, packed);
    Bf16Ops::Operand out;
    Bf16Ops::product_times(c.packed, c.weights, packed, out);
    Matrix<double> expected(m, n);
    reference::multiply_transposed<double>(doubles_of(c.a), doubles_of(c.w), expected);
    for (std::size_t i = 0; i < m * n; ++i) expected.data()[i] *= static_cast<double>(factors.data()[i]);
    expect_close(doubles_of(out), expected, kBf16, 1e-5);
  }
}

TEST(Bf16Product, OfTheTransposedMatrixIsTheBackwardPass) {
  // <y, a·wᵀ> = <y·w, a>, whatever y.
  const test::Bf16ForTest bf16_here;
  const Case c = make_case(20, 48, 64);
  const auto y = random_bf16_floats(20, 48, 6);
  Matrix<float> transposed(64, 48), forward(20, 48), back(20, 64);
  for (std::size_t r = 0; r < 64; ++r) {
    for (std::size_t j = 0; j < 48; ++j) transposed.row(r)[j] = c.w.row(j)[r];
  }
  Bf16Ops::Operand packed_y;
  Bf16Ops::pack(y, packed_y);
  Bf16Ops::product(c.packed, c.weights, {}, forward);
  Bf16Ops::product(packed_y, Bf16Ops::Weights(transposed), {}, back);
  double left = 0, right = 0;
  for (std::size_t i = 0; i < 20 * 48; ++i) left += static_cast<double>(forward.data()[i] * y.data()[i]);
  for (std::size_t i = 0; i < 20 * 64; ++i) right += static_cast<double>(back.data()[i] * c.a.data()[i]);
  EXPECT_NEAR(left, right, 1e-3);
}

TEST(Bf16Product, IsTheSameOnManyThreadsAtOnce) {
  const test::Bf16ForTest bf16_here;
  const Case c = make_case(33, 40, 64);
  Matrix<float> expected(33, 40);
  Bf16Ops::product(c.packed, c.weights, c.bias.row(0), expected);
  ThreadPool threads(4);
  threads.parallel_for(16, [&](std::size_t, std::size_t) {
    Matrix<float> out(33, 40);
    Bf16Ops::product(c.packed, c.weights, c.bias.row(0), out);
    EXPECT_TRUE(std::equal(out.data(), out.data() + 33 * 40, expected.data()));
  });
}

TEST(Bf16Normalize, AgreesWithTheReferenceForwardAndBackward) {
  for (const std::size_t cols : {32u, 50u, 192u, 768u}) {
    const auto x = random_floats(21, cols, 1, 3), d = random_floats(21, cols, 2);
    auto dx = random_floats(21, cols, 3);
    Bf16Ops::Operand normalized;
    std::vector<float> inverse_std(21);
    Bf16Ops::normalize(x, 1e-6f, normalized, inverse_std);
    Matrix<double> expected(21, cols), d_expected = doubles_of(dx);
    std::vector<double> expected_std(21);
    reference::normalize<double>(doubles_of(x), 1e-6, expected, expected_std);
    expect_close(doubles_of(normalized), expected, kBf16, 1e-6);
    for (std::size_t r = 0; r < 21; ++r) EXPECT_NEAR(inverse_std[r], expected_std[r], 1e-5 * expected_std[r]);

    Bf16Ops::normalize_backward(d, normalized, inverse_std, dx);
    reference::normalize_backward<double>(doubles_of(d), doubles_of(normalized), expected_std, d_expected);
    expect_close(doubles_of(dx), d_expected, 1e-4, 1e-5);
  }
}

TEST(Bf16Normalize, ARowDoesNotDependOnItsPlace) {
  const auto x = random_floats(40, 192, 1);
  Bf16Ops::Operand all, one;
  std::vector<float> all_std(40), one_std(1);
  Bf16Ops::normalize(x, 1e-6f, all, all_std);
  Bf16Ops::normalize(x.view().rows_from(27, 1), 1e-6f, one, one_std);
  EXPECT_EQ(one_std[0], all_std[27]);
  for (std::size_t c = 0; c < 192; ++c) EXPECT_EQ(one.at(0, c), all.at(27, c));
}

}  // namespace
}  // namespace dfrost

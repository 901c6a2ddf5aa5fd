#include "kernels/vector_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "kernels/reference.h"

namespace dfrost {
namespace {

// Lengths that fill no vector, one, several, and several with a rest, on every instruction set.
constexpr std::size_t kLengths[] = {1, 3, 8, 16, 31, 64, 65, 197, 768};

std::vector<float> random_floats(std::size_t count, double deviation, Seed seed) {
  RandomStream stream(seed, "values");
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(deviation * stream.normal());
  return values;
}

std::vector<double> to_double(const std::vector<float>& v) { return {v.begin(), v.end()}; }

TEST(Gelu, IsTheExactOneAndSoIsItsDerivative) {
  std::vector<float> x;
  for (double v = -12; v <= 12; v += 0.001) x.push_back(static_cast<float>(v));
  for (const float v : {-1e30f, -100.0f, 0.0f, 100.0f, 1e30f}) x.push_back(v);
  std::vector<float> y = x, slope(x.size());
  MatrixView<float> slope_view(slope.data(), 1, slope.size());
  gelu_rows({y.data(), 1, y.size()}, &slope_view);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = reference::gelu(static_cast<double>(x[i]));
    ASSERT_NEAR(y[i], exact, 4e-7 + 2e-7 * std::abs(exact)) << x[i];
    ASSERT_NEAR(slope[i], reference::gelu_derivative(static_cast<double>(x[i])), 1e-6) << x[i];
  }
}

TEST(NormalizeRows, AgreesWithTheReferenceForwardAndBackward) {
  for (const std::size_t n : kLengths) {
    const auto x = random_floats(3 * n, 2.0, n), d = random_floats(3 * n, 1.0, n + 1);
    std::vector<float> y(3 * n), scale(3), dx = random_floats(3 * n, 1.0, n + 2);
    const auto exact_x = to_double(x), exact_d = to_double(d);
    std::vector<double> exact_y(3 * n), exact_scale(3), exact_dx = to_double(dx);
    normalize_rows({x.data(), 3, n}, 1e-6f, {y.data(), 3, n}, scale);
    normalize_rows_backward({d.data(), 3, n}, {y.data(), 3, n}, scale, {dx.data(), 3, n});
    reference::normalize<double>({exact_x.data(), 3, n}, 1e-6, {exact_y.data(), 3, n}, exact_scale);
    reference::normalize_backward<double>({exact_d.data(), 3, n}, {exact_y.data(), 3, n}, exact_scale,
                                          {exact_dx.data(), 3, n});
    const double tolerance = n == 1 ? 1e-2 : 2e-5 * exact_scale[0];  // one value has no spread: 1/√ε is 1,000
    for (std::size_t i = 0; i < 3 * n; ++i) {
      ASSERT_NEAR(y[i], exact_y[i], 1e-5);
      ASSERT_NEAR(dx[i], exact_dx[i], tolerance + 1e-5);
    }
  }
}

TEST(SoftmaxRows, AgreesWithTheReferenceAndNeverOverflows) {
  for (const std::size_t n : kLengths) {
    for (const double deviation : {1.0, 1e4}) {
      auto x = random_floats(2 * n, deviation, n);
      auto exact = to_double(x);
      softmax_rows({x.data(), 2, n}, 0.125f);
      reference::softmax<double>({exact.data(), 2, n}, 0.125);
      for (std::size_t i = 0; i < 2 * n; ++i) ASSERT_NEAR(x[i], exact[i], 1e-5);
    }
  }
}

TEST(SoftmaxRows, KeepsTheRatioOfItsTermsDownToTheSmallestNormalNumbers) {
  std::vector<float> x = {0.0f};
  for (double v = -80; v < 0; v += 0.003) x.push_back(static_cast<float>(v));
  x.push_back(-88.0f);
  x.push_back(-1e30f);
  auto p = x;
  softmax_rows({p.data(), 1, p.size()}, 1.0f);
  for (std::size_t i = 0; i + 2 < x.size(); ++i) {
    const double exact = std::exp(static_cast<double>(x[i]));
    ASSERT_NEAR(static_cast<double>(p[i]) / static_cast<double>(p[0]), exact, 4e-7 * exact) << x[i];
  }
  EXPECT_EQ(p[x.size() - 2], 0.0f);
  EXPECT_EQ(p[x.size() - 1], 0.0f);
}

TEST(SoftmaxRowsBackward, MatchesFiniteDifferences) {
  constexpr std::size_t n = 19;
  constexpr float kScale = 0.5f;
  const auto x = to_double(random_floats(n, 1.0, 1)), weights = to_double(random_floats(n, 1.0, 2));
  const auto loss = [&](std::vector<double> at) {
    reference::softmax<double>({at.data(), 1, n}, kScale);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += weights[i] * at[i];
    return sum;
  };
  std::vector<float> p(x.begin(), x.end()), d(weights.begin(), weights.end());
  softmax_rows({p.data(), 1, n}, kScale);
  softmax_rows_backward({p.data(), 1, n}, kScale, {d.data(), 1, n});
  for (std::size_t i = 0; i < n; ++i) {
    auto up = x, down = x;
    up[i] += 1e-5;
    down[i] -= 1e-5;
    EXPECT_NEAR(d[i], (loss(up) - loss(down)) / 2e-5, 1e-6);
  }
}

TEST(DotAndAddScaled, AgreeWithPlainLoops) {
  for (const std::size_t n : kLengths) {
    const auto a = random_floats(n, 1.0, n), b = random_floats(n, 1.0, n + 1);
    double exact = 0;
    for (std::size_t i = 0; i < n; ++i) exact += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    EXPECT_NEAR(dot(a, b), exact, 1e-5 * static_cast<double>(n));
    auto y = b;
    add_scaled(0.5f, a, y);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(y[i], b[i] + 0.5f * a[i], 1e-6);
  }
}

}  // namespace
}  // namespace dfrost

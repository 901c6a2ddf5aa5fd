// Noise of a simulation is the same every time; the system's never is. Both have the distribution they say.
#include "privacy/noise_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace dfrost {
namespace {

NoiseSource source_of(NoiseOrigin origin, std::uint64_t client = 3) {
  return {origin, 7, "noise", client, 2};
}

std::vector<double> normals(NoiseSource source, std::size_t count) {
  std::vector<double> all(count);
  std::ranges::generate(all, [&] { return source.normal(); });
  return all;
}

TEST(NoiseSource, OfASeedIsTheSameEveryTimeAndAnotherForEveryClient) {
  EXPECT_EQ(normals(source_of(NoiseOrigin::seed), 101), normals(source_of(NoiseOrigin::seed), 101));
  EXPECT_NE(normals(source_of(NoiseOrigin::seed), 5), normals(source_of(NoiseOrigin::seed, 4), 5));
}

TEST(NoiseSource, OfTheSystemIsNeverTheSame) {
  // More than it asks for at once, so that a buffer that is handed out twice is seen.
  std::set<std::uint64_t> seen;
  auto one = source_of(NoiseOrigin::system), other = source_of(NoiseOrigin::system);
  for (int i = 0; i < 2000; ++i) {
    EXPECT_TRUE(seen.insert(one.next()).second);
    EXPECT_TRUE(seen.insert(other.next()).second);
  }
}

// The largest distance of the empirical distribution to the normal one, times the root of the count: beyond
// 3 once in thirty million draws of a right source.
double kolmogorov(std::vector<double> values) {
  std::ranges::sort(values);
  const auto count = static_cast<double>(values.size());
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = 0.5 * std::erfc(-values[i] / std::sqrt(2.0));
    largest = std::max({largest, std::abs(expected - static_cast<double>(i) / count),
                        std::abs(expected - static_cast<double>(i + 1) / count)});
  }
  return largest * std::sqrt(count);
}

TEST(NoiseSource, IsNormalWhereverItComesFrom) {
  for (const auto origin : {NoiseOrigin::seed, NoiseOrigin::system})
    EXPECT_LT(kolmogorov(normals(source_of(origin), 20'000)), 3);
}

TEST(NoiseSource, IsUniformWhereverItComesFrom) {
  for (const auto origin : {NoiseOrigin::seed, NoiseOrigin::system}) {
    auto source = source_of(origin);
    double sum = 0;
    for (int i = 0; i < 20'000; ++i) {
      const double value = source.uniform();
      EXPECT_TRUE(value >= 0 && value < 1);
      sum += value;
    }
    EXPECT_NEAR(sum / 20'000, 0.5, 6 / std::sqrt(12.0 * 20'000));
  }
}

}  // namespace
}  // namespace dfrost

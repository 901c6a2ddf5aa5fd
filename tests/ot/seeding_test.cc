#include "ot/seeding.h"

#include <gtest/gtest.h>

#include <set>

#include "support/numbers.h"

namespace dfrost {
namespace {

TEST(KMeansPlusPlus, DrawsEveryDistinctPointBeforeAnyTwice) {
  for (Seed seed = 0; seed < 20; ++seed) {
    RandomStream random(seed, "points");
    const DoubleMatrix points(test::random_points(12, 3, random).view());
    const std::vector<double> weights(12, 1.0 / 12);
    const auto drawn = kmeans_plus_plus(points, weights, 12, {3, 5}, random);
    EXPECT_EQ(drawn[0], 3u);
    EXPECT_EQ(drawn[1], 5u);
    EXPECT_EQ(std::set<std::size_t>(drawn.begin(), drawn.end()).size(), 12u);
  }
}

TEST(KMeansPlusPlus, TakesOneFromEachClusterWhenTheyAreFarApart) {
  RandomStream random(4, "clusters");
  auto values = test::random_points(40, 2, random, 1e-3);
  for (std::size_t r = 0; r < 40; ++r) values.row(r)[0] += 100.0f * static_cast<float>(r % 4);
  const std::vector<double> weights(40, 1.0 / 40);
  const auto drawn = kmeans_plus_plus(DoubleMatrix(values.view()), weights, 4, {}, random);
  std::set<std::size_t> clusters;
  for (const auto row : drawn) clusters.insert(row % 4);
  EXPECT_EQ(clusters.size(), 4u);
}

TEST(KMeansPlusPlus, StillDrawsWhenAllPointsAreTheSame) {
  RandomStream random(1, "same");
  const std::vector<double> weights(3, 1.0 / 3);
  for (const auto row : kmeans_plus_plus(DoubleMatrix(3, 2), weights, 5, {}, random)) EXPECT_LT(row, 3u);
}

}  // namespace
}  // namespace dfrost

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dfrost/wasserstein.h"
#include "merge/neighbours.h"

namespace dfrost {
namespace {

using test::merge_points;
using test::random_neighbours;

// Plain Lloyd iterations: every row to its nearest centre, every centre to the mean of its rows.
test::Points lloyd(const test::Neighbours& neighbours, std::size_t prompts, std::size_t steps) {
  test::Points centres = neighbours.sets.front();
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<double> sums(centres.values.size()), counts(prompts);
    for (const auto& set : neighbours.sets) {
      for (std::size_t r = 0; r < set.rows; ++r) {
        std::size_t best = 0;
        double least = INFINITY;
        for (std::size_t i = 0; i < prompts; ++i) {
          double distance = 0;
          for (std::size_t k = 0; k < set.cols; ++k) {
            distance += std::pow(
                static_cast<double>(set.view()(r, k)) - static_cast<double>(centres.view()(i, k)), 2);
          }
          if (distance < least) least = distance, best = i;
        }
        counts[best] += 1;
        for (std::size_t k = 0; k < set.cols; ++k)
          sums[best * set.cols + k] += static_cast<double>(set.view()(r, k));
      }
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (counts[i / centres.cols] > 0)
        centres.values[i] = static_cast<float>(sums[i] / counts[i / centres.cols]);
    }
  }
  return centres;
}

TEST(OtMergeLimits, EpsilonToZeroIsLloydsKMeans) {
  for (Seed seed = 0; seed < 20; ++seed) {
    RandomStream random(seed, "lloyd");
    const auto neighbours = random_neighbours(6, 5, 4, 0.4, random);
    const auto merged =
        merge_points(neighbours, {.epsilon = 1e-8, .lambda = 0, .dead = DeadPrompts::keep}, 5);
    const auto centres = lloyd(neighbours, 5, 50);
    for (std::size_t i = 0; i < centres.values.size(); ++i) {
      EXPECT_NEAR(merged.prompts.values[i], centres.values[i], 1e-5);
    }
  }
}

TEST(OtMergeLimits, AsManyPromptsAsRowsWithoutLambdaIsTheIdentity) {
  for (Seed seed = 0; seed < 10; ++seed) {
    RandomStream random(seed, "identity");
    const auto neighbours = random_neighbours(4, 5, 6, 0.5, random);
    const auto merged = merge_points(neighbours, {.epsilon = 1e-4, .lambda = 0}, 20);
    const auto views = neighbours.views();
    test::Points all(20, 6);
    for (std::size_t r = 0; r < 20; ++r) std::ranges::copy(views[r / 5].row(r % 5), all.row(r).begin());
    EXPECT_LT(wasserstein2_squared({all.view()}, {merged.prompts.view()}).w2_squared, 1e-12);
  }
}

std::vector<double> mean_of(const test::Neighbours& neighbours) {
  std::vector<double> mean(neighbours.sets.front().cols);
  for (const auto& set : neighbours.sets) {
    for (std::size_t i = 0; i < set.values.size(); ++i) {
      mean[i % set.cols] += static_cast<double>(set.values[i]) / static_cast<double>(neighbours.rows());
    }
  }
  return mean;
}

TEST(OtMergeLimits, OnePromptIsTheMeanOverOnePlusLambda) {
  for (Seed seed = 0; seed < 10; ++seed) {
    RandomStream random(seed, "one");
    const auto neighbours = random_neighbours(4, 5, 6, 0.5, random);
    const double lambda = random.uniform();
    const auto merged = merge_points(neighbours, {.lambda = lambda}, 1);
    const auto mean = mean_of(neighbours);
    for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(merged.prompts.values[k], mean[k] / (1 + lambda), 1e-6);
  }
}

TEST(OtMergeLimits, EpsilonToInfinityGivesCopiesOfTheMean) {
  RandomStream random(1, "infinity");
  const auto neighbours = random_neighbours(4, 5, 6, 0.5, random);
  const auto merged = merge_points(neighbours, {.epsilon = 1e8, .lambda = 0}, 5);
  const auto mean = mean_of(neighbours);
  for (std::size_t i = 0; i < 30; ++i) EXPECT_NEAR(merged.prompts.values[i], mean[i % 6], 1e-6);
  EXPECT_NEAR(merged.summary.off_index_mass, 0.8, 1e-6);
}

void expect_finite(const test::Merged& merged) {
  for (const float value : merged.prompts.values) EXPECT_TRUE(std::isfinite(value));
  for (const double value : merged.summary.objective) EXPECT_TRUE(std::isfinite(value));
  for (const double value : merged.summary.delta) EXPECT_TRUE(std::isfinite(value));
  for (const double value : merged.summary.plan) EXPECT_TRUE(value >= 0 && value <= 1);
  EXPECT_TRUE(merged.summary.theorem.held);
}

TEST(OtMergeExtremes, EveryCombinationOfScaleAndEpsilonIsFiniteAndKeepsItsMass) {
  for (const double scale : {1e-20, 1.0, 1e15}) {
    for (const double epsilon : {1e-8, 0.01, 1e8}) {
      for (const auto form : {MergeForm::automatic, MergeForm::gram, MergeForm::direct}) {
        for (const double lambda : {0.0, 0.001}) {
          RandomStream random(2, "extremes");
          test::Neighbours neighbours;
          for (int s = 0; s < 3; ++s) neighbours.sets.push_back(test::random_points(4, 7, random, scale));
          expect_finite(merge_points(neighbours, {.epsilon = epsilon, .lambda = lambda, .form = form}, 4));
        }
      }
    }
  }
}

TEST(OtMergeExtremes, ScalingTheRowsAndEpsilonTogetherScalesTheResult) {
  RandomStream random(3, "scaling");
  const auto neighbours = random_neighbours(4, 5, 6, 0.3, random);
  const auto plain = merge_points(neighbours, {.epsilon = 0.05}, 5);
  for (const int power : {-60, 40}) {
    auto scaled = neighbours;
    for (auto& set : scaled.sets) {
      for (float& value : set.values) value = std::ldexp(value, power);
    }
    const auto merged = merge_points(scaled, {.epsilon = std::ldexp(0.05, 2 * power)}, 5);
    for (std::size_t i = 0; i < 30; ++i) {
      EXPECT_NEAR(std::ldexp(merged.prompts.values[i], -power), plain.prompts.values[i], 1e-6);
    }
  }
}

TEST(OtMergeExtremes, NearPointsFarFromTheOriginAreToldApart) {
  // 64 is one unit in the last place of 1e9: Gram space would see only noise.
  test::Neighbours neighbours;
  for (int s = 0; s < 2; ++s) neighbours.sets.push_back(test::Points(2, 1, {1e9f, 1e9f + 64}));
  const auto merged = merge_points(neighbours, {.lambda = 0}, 2);
  EXPECT_EQ(merged.summary.form, MergeForm::direct);
  EXPECT_EQ(merged.prompts.values, (std::vector<float>{1e9f, 1e9f + 64}));
  EXPECT_EQ(merged.summary.off_index_mass, 0);
}

TEST(OtMergeExtremes, IdenticalPointsMergeIntoThemselves) {
  test::Neighbours neighbours;
  for (int s = 0; s < 3; ++s) neighbours.sets.push_back(test::Points(2, 2, {3, 4, 3, 4}));
  for (const auto form : {MergeForm::gram, MergeForm::direct}) {
    const auto merged = merge_points(neighbours, {.lambda = 0, .form = form}, 2);
    expect_finite(merged);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(merged.prompts.values[i], i % 2 == 0 ? 3 : 4, 1e-6);
  }
}

TEST(OtMergeExtremes, OnePointMergesIntoAnyNumberOfItself) {
  test::Neighbours neighbours;
  neighbours.sets.push_back(test::Points(1, 3, {1, 2, 3}));
  const auto merged = merge_points(neighbours, {.lambda = 0}, 4);
  expect_finite(merged);
  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_NEAR(merged.prompts.values[i], 1 + static_cast<double>(i % 3), 1e-6);
}

TEST(OtMergeExtremes, FiveThousandRowsAndEveryWidthFromOneTo4096) {
  RandomStream random(4, "large");
  const auto many = random_neighbours(500, 10, 4, 0.1, random);
  const auto merged = merge_points(many, {}, 10);
  expect_finite(merged);
  EXPECT_LT(merged.summary.objective.back(), merged.summary.initial_objective);
  for (const std::size_t width : {1, 2, 768, 4096}) {
    const auto neighbours = random_neighbours(3, 4, width, 0.1, random);
    const auto wide = merge_points(neighbours, {.epsilon = 1e-3, .lambda = 0}, 4);
    expect_finite(wide);
    EXPECT_LE(wide.summary.objective.back(), wide.summary.initial_objective);
  }
}

}  // namespace
}  // namespace dfrost

// What holds of defended merges for any seed: loose limits change no bit, order means nothing, steps descend,
// and up to which share of hostile senders a result stays where the honest ones are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dfrost/error.h"
#include "dfrost/wasserstein.h"
#include "merge/neighbours.h"
#include "merge/robust_mean.h"
#include "merge/set_defence.h"

namespace dfrost {
namespace {

constexpr Seed kSeeds = 200;

double w2(const test::Points& a, const test::Points& b) {
  return std::sqrt(wasserstein2_squared({a.view()}, {b.view()}).w2_squared);
}

MergeOptions sharp_merge() { return {.epsilon = 0.05, .steps = 30, .shrink = Shrink::off}; }

TEST(RobustMerge, IsThePlainMergeToTheLastBitWhereItsLimitsAreLoose) {
  for (Seed seed = 0; seed < 50; ++seed) {
    RandomStream random(seed, "loose");
    const auto neighbours = test::random_neighbours(4, 5, 7, 0.2, random);
    const auto plain = test::merge_points(neighbours, sharp_merge(), 5);
    MergeOptions loose = sharp_merge();
    loose.median = 1e6;
    const auto softened = test::merge_points(neighbours, loose, 5);
    EXPECT_EQ(softened.prompts.values, plain.prompts.values);
    EXPECT_EQ(softened.summary.plan, plain.summary.plan);
    EXPECT_EQ(softened.summary.softened_mass, 0);
    const auto views = neighbours.views();
    for (const auto& set : clip_sets(views, {.radius = 1e6})) EXPECT_FALSE(set.is_clipped());
    EXPECT_EQ(std::ranges::count(outlying_sets(views, 1e6), true), 0);
  }
}

TEST(TrimmedMerge, DescendsInEveryStepAndComesToRest) {
  for (Seed seed = 0; seed < kSeeds; ++seed) {
    RandomStream random(seed, "descent");
    const auto neighbours = test::random_neighbours(2 + random.below(5), 5, 6, 0.5, random);
    MergeOptions options = sharp_merge();
    options.epsilon = random.uniform(0.05, 0.5);
    options.trim = random.uniform(0.05, 0.5);
    options.steps = 400;
    const auto merged = test::merge_points(neighbours, options, 5);
    const auto& objective = merged.summary.objective;
    for (std::size_t s = 1; s < objective.size(); ++s)
      ASSERT_LE(objective[s], objective[s - 1] + 1e-9 * (1 + std::abs(objective[s - 1]))) << seed;
    EXPECT_LT(merged.summary.delta.back(), 1e-2 * merged.summary.delta.front()) << seed;
    double mass = 0;
    for (const double share : merged.summary.plan) mass += share;
    EXPECT_NEAR(mass, 1, 1e-12);
  }
}

TEST(ClippedSets, AreWithinTheRadiusAndAMergeOfThemComesToRest) {
  for (Seed seed = 0; seed < kSeeds; ++seed) {
    RandomStream random(seed, "within");
    test::Neighbours neighbours;
    for (std::size_t s = 0; s < 4; ++s)
      neighbours.sets.push_back(test::random_points(2 + random.below(6), 5, random, s == 0 ? 1 : 4));
    const double radius = random.uniform(0.2, 2);
    auto views = neighbours.views();
    const auto clipped = clip_sets(views, {.radius = radius});
    std::vector<test::Points> moved;
    std::vector<std::vector<double>> masses(4);
    moved.reserve(3);
    for (std::size_t s = 0; s < 3; ++s) {
      if (!clipped[s].is_clipped()) continue;
      const auto& points = clipped[s].points;
      moved.emplace_back(points.size() / 5, 5, std::vector<float>(points.begin(), points.end()));
      masses[s + 1] = clipped[s].masses;
      views[s + 1] = moved.back().view();
      const double left =
          std::sqrt(wasserstein2_squared({views[s + 1], masses[s + 1]}, {views[0]}).w2_squared);
      EXPECT_NEAR(left, radius, 1e-5 * radius) << seed;
    }
    MergeOptions options = sharp_merge();
    options.epsilon = 0.3;
    options.steps = 400;
    test::Points merged(4, 5);
    const auto summary = merge({.senders = views, .masses = masses}, options, merged.view());
    EXPECT_LT(summary.delta.back(), 1e-2 * summary.delta.front()) << seed;
  }
}

// Own prompts first; then honest sets near them, hostile ones where `place` puts them.
test::Neighbours under_attack(std::size_t honest, std::size_t hostile, Seed seed) {
  RandomStream random(seed, "breakdown");
  auto all = test::random_neighbours(honest + hostile, 5, 8, 0.05, random);
  for (std::size_t s = honest; s < honest + hostile; ++s)
    for (float& value : all.sets[s].values) value = static_cast<float>(1e4 * random.normal());
  return all;
}

double distance_of_merge(const test::Neighbours& all, const MergeOptions& options) {
  return w2(test::merge_points(all, options, 5).prompts, all.sets[0]);
}

// A result that the honest alone could have brought about.
constexpr double kNear = 2;

TEST(TrimmedMerge, StaysWithTheHonestWhileItLeavesOutAsMuchMassAsTheHostileHave) {
  MergeOptions options = sharp_merge();
  options.trim = 0.4;
  double broken = 0;
  for (Seed seed = 0; seed < kSeeds; ++seed) {
    EXPECT_LT(distance_of_merge(under_attack(3, 2, seed), options), kNear) << seed;  // 2/5 of the mass
    broken += distance_of_merge(under_attack(2, 3, seed), options) > kNear ? 1 : 0;  // 3/5
  }
  EXPECT_GT(broken, 0.9 * static_cast<double>(kSeeds));
}

// Every hostile sender is honest but for some prompts, and all of these lie together: they can only be told
// by being far away.
test::Neighbours with_far_prompts(std::size_t honest, std::size_t hostile, std::size_t prompts, Seed seed) {
  RandomStream random(seed, "far prompts");
  auto all = test::random_neighbours(honest + hostile, 5, 8, 0.05, random);
  for (std::size_t s = honest; s < honest + hostile; ++s)
    for (std::size_t r = 0; r < prompts; ++r) std::ranges::fill(all.sets[s].row(r), 1e4f);
  return all;
}

TEST(MedianMerge, StaysWithTheHonestWhileTheyHaveMostOfAPromptsMass) {
  MergeOptions options = sharp_merge();
  options.median = 1;
  for (Seed seed = 0; seed < kSeeds; ++seed) {
    EXPECT_LT(distance_of_merge(with_far_prompts(4, 2, 1, seed), options), kNear) << seed;
    EXPECT_GT(distance_of_merge(with_far_prompts(4, 2, 1, seed), sharp_merge()), 100) << seed;  // undefended
    // All far ones, 18 of 40, come to one prompt, which has eight others at most.
    EXPECT_GT(distance_of_merge(with_far_prompts(2, 6, 3, seed), options), kNear) << seed;
  }
}

TEST(ClippedSets, StayWithTheHonestWhileTheShareCoversTheHostile) {
  for (Seed seed = 0; seed < kSeeds; ++seed) {
    const auto all = under_attack(4, 2, seed);  // of five neighbours two
    const auto views = all.views();
    for (const auto& set : clip_sets(views, {.share = 0.4})) {
      if (!set.is_clipped()) continue;
      const test::Points moved(5, 8, std::vector<float>(set.points.begin(), set.points.end()));
      EXPECT_LT(w2(moved, all.sets[0]), kNear) << seed;
    }
    const auto loose = clip_sets(views, {.share = 0.2});
    EXPECT_EQ(std::ranges::count_if(loose, &ClippedSet::is_clipped), 1) << seed;  // one gets through
  }
}

TEST(OutlyingSets, AreTheHostileWhileTheyAreFewerThanHalf) {
  for (Seed seed = 0; seed < kSeeds; ++seed) {
    const auto all = under_attack(4, 3, seed);
    const auto views = all.views();
    const auto outlying = outlying_sets(views, 3);
    for (std::size_t s = 0; s < 7; ++s) EXPECT_EQ(outlying[s], s >= 4) << seed;
  }
}

double distance_of_mean(const test::Neighbours& all, const RobustMeanOptions& options) {
  const std::vector<double> weights(all.sets.size(), 1 / static_cast<double>(all.sets.size()));
  std::vector<const float*> vectors;
  for (const auto& set : all.sets) vectors.push_back(set.values.data());
  std::vector<float> merged(40);
  robust_mean({vectors, weights, 40}, options, merged);
  return distance_between(merged, all.sets[0].values);
}

TEST(RobustMeans, StayWithTheHonestUpToTheirBreakdownPoint) {
  for (Seed seed = 0; seed < kSeeds; ++seed) {
    EXPECT_LT(distance_of_mean(under_attack(4, 2, seed), {.trim = 0.34}), kNear) << seed;
    EXPECT_GT(distance_of_mean(under_attack(4, 2, seed), {.trim = 0.1}), kNear) << seed;
    EXPECT_LT(distance_of_mean(under_attack(4, 3, seed), {.median = 1}), kNear) << seed;
    EXPECT_GT(distance_of_mean(under_attack(2, 4, seed), {.median = 1}), kNear) << seed;
  }
}

TEST(RobustMeans, AreThePlainMeanToTheLastBitWhereTheirLimitsAreLoose) {
  for (Seed seed = 0; seed < 50; ++seed) {
    RandomStream random(seed, "loose mean");
    const auto vectors = test::random_points(5, 30, random);
    const auto weights = random.dirichlet(5, 1.0);
    std::vector<const float*> rows;
    for (std::size_t s = 0; s < 5; ++s) rows.push_back(vectors.view().row(s).data());
    std::vector<float> plain(30), loose(30);
    robust_mean({rows, weights, 30}, {}, plain);
    robust_mean({rows, weights, 30}, {.median = 1e6}, loose);
    EXPECT_EQ(plain, loose);
  }
}

TEST(RobustMerge, DoesNotDependOnTheOrderOfSendersOrPrompts) {
  for (Seed seed = 0; seed < kSeeds; ++seed) {
    RandomStream random(seed, "order");
    auto all = test::random_neighbours(5, 5, 6, 0.4, random);
    MergeOptions options = sharp_merge();
    options.epsilon = 0.3;
    options.trim = 0.3;
    options.median = 0.7;
    const auto first = test::merge_points(all, options, 5);
    std::rotate(all.sets.begin() + 1, all.sets.begin() + 3, all.sets.end());
    for (std::size_t s = 1; s < 5; ++s)
      std::rotate(all.sets[s].values.begin(), all.sets[s].values.begin() + 12, all.sets[s].values.end());
    const auto second = test::merge_points(all, options, 5);
    EXPECT_LT(w2(first.prompts, second.prompts), 1e-5) << seed;
    const std::vector before = {0.2, 0.5, 0.3};
    EXPECT_EQ(clip_radius(before, {.share = 0.3}), clip_radius({0.5, 0.3, 0.2}, {.share = 0.3}));
  }
}

TEST(RobustMerge, RefusesWhatItCannotDo) {
  RandomStream random(1, "refused");
  const auto all = test::random_neighbours(3, 4, 5, 0.1, random);
  EXPECT_THROW(test::merge_points(all, {.trim = 1}, 4), Error);
  EXPECT_THROW(test::merge_points(all, {.median = -1}, 4), Error);
  EXPECT_THROW(test::merge_points(all, {.kind = MergeKind::average, .trim = 0.1}, 4), Error);
  EXPECT_THROW(test::merge_points(all, {.kind = MergeKind::barycenter, .median = 1}, 4), Error);
  const auto views = all.views();
  test::Points merged(4, 5);
  const std::vector<std::vector<double>> masses(2);
  EXPECT_THROW(merge({.senders = views, .masses = masses}, {}, merged.view()), Error);
}

}  // namespace
}  // namespace dfrost

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dfrost/wasserstein.h"
#include "merge/neighbours.h"

namespace dfrost {
namespace {

using test::merge_points;
using test::random_neighbours;

TEST(AverageMerge, KeepsEveryPromptAtItsIndex) {
  RandomStream random(1, "average");
  const auto merged = merge_points(random_neighbours(3, 4, 5, 1, random), {.kind = MergeKind::average}, 4);
  EXPECT_EQ(merged.summary.off_index_mass, 0);
  EXPECT_TRUE(merged.summary.dead.empty());
  for (const double mass : merged.summary.column_mass) EXPECT_NEAR(mass, 0.25, 1e-15);
}

TEST(BarycenterMerge, GivesEveryPromptEqualMassWhateverTheSendersSent) {
  for (Seed seed = 0; seed < 20; ++seed) {
    RandomStream random(seed, "balanced");
    test::Neighbours neighbours;
    for (std::size_t s = 0; s < 4; ++s)
      neighbours.sets.push_back(test::random_points(1 + random.below(9), 3, random));
    const auto merged = merge_points(neighbours, {.kind = MergeKind::barycenter}, 5);
    for (const double mass : merged.summary.column_mass) EXPECT_NEAR(mass, 0.2, 1e-12);
    EXPECT_TRUE(merged.summary.dead.empty());
    EXPECT_TRUE(merged.summary.converged);
    double objective = 0;
    for (const auto& set : neighbours.sets) {
      objective += wasserstein2_squared({set.view()}, {merged.prompts.view()}).w2_squared / 4;
    }
    EXPECT_NEAR(merged.summary.objective.at(0), objective, 1e-5);
  }
}

TEST(BarycenterMerge, DoesNotShrink) {
  RandomStream random(2, "shrink");
  const auto set = random_neighbours(1, 6, 8, 0, random);
  const auto merged = merge_points(set, {.kind = MergeKind::barycenter, .lambda = 1}, 6);
  EXPECT_LT(wasserstein2_squared({set.sets[0].view()}, {merged.prompts.view()}).w2_squared, 1e-13);
}

TEST(BarycenterMerge, UndoesAReorderingThatAveragingByIndexMixesUp) {
  RandomStream random(3, "reordered");
  auto neighbours = random_neighbours(4, 6, 20, 0.001, random);
  const auto shared = neighbours.sets[0];
  for (std::size_t s = 1; s < 4; ++s) {
    std::rotate(neighbours.sets[s].values.begin(),
                neighbours.sets[s].values.begin() + 20 * static_cast<long>(s),
                neighbours.sets[s].values.end());
  }
  const auto distance = [&](MergeKind kind) {
    return wasserstein2_squared(
               {merge_points(neighbours, {.kind = kind, .shrink = Shrink::off}, 6).prompts.view()},
               {shared.view()})
        .w2_squared;
  };
  EXPECT_LT(distance(MergeKind::barycenter), 1e-4);
  EXPECT_LT(distance(MergeKind::ot), 1e-4);
  EXPECT_GT(distance(MergeKind::average), 1);
}

TEST(BarycenterMerge, StartsWhereItIsTold) {
  RandomStream random(4, "start");
  const auto neighbours = random_neighbours(3, 4, 3, 0.01, random);
  const auto views = neighbours.views();
  for (const auto init : {MergeInit::own, MergeInit::previous, MergeInit::kmeans_plus_plus}) {
    test::Points merged(4, 3);
    const auto summary = merge({.senders = views, .previous = neighbours.sets[1].view()},
                               {.kind = MergeKind::barycenter, .init = init}, merged.view());
    EXPECT_TRUE(summary.converged);
    EXPECT_LT(wasserstein2_squared({merged.view()}, {neighbours.sets[0].view()}).w2_squared, 0.01);
  }
}

}  // namespace
}  // namespace dfrost

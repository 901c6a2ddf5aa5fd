// PFPT's aggregation, against PyTorch and scipy and against its own slow obvious version.
#include "merge/pool_aggregation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>

#include "merge/fast_pool_model.h"
#include "merge/neighbours.h"
#include "merge/pool_model.h"
#include "merge/pool_screen.h"
#include "ot/row_assignment.h"
#include "support/support.h"

namespace dfrost {
namespace {

struct Problem {
  test::Neighbours neighbours;
  std::size_t width = 0;
  PoolAggregationOptions options;
};

// Senders that share some prompts up to noise, and have some of their own. Many passes at a larger rate would
// be chaotic: there the last bit of the input decides, and two right answers differ.
Problem random_problem(std::size_t number, RandomStream& random) {
  Problem problem;
  problem.width = 3 + random.below(14);
  problem.options = {.passes = number % 4 == 0 ? std::size_t{50} : 5 + random.below(20),
                     .rate = number % 4 == 0 ? 1e-3 : 0.01,
                     .seed = random.below(1'000'000)};
  const auto common = test::random_points(6, problem.width, random, 0.8);
  for (std::size_t s = 0; s < 2 + random.below(3); ++s) {
    auto set = test::random_points(2 + random.below(5), problem.width, random, 0.8);
    for (std::size_t i = 0; i < set.values.size() / 2; ++i)
      set.values[i] = common.values[i] + 0.1f * static_cast<float>(random.normal());
    problem.neighbours.sets.push_back(std::move(set));
  }
  return problem;
}

TEST(PoolAggregation, IsThatOfPyTorchAndScipy) {
  RandomStream random(1, "pools");
  test::NumberWriter written;
  std::vector<Problem> problems;
  for (std::size_t number = 0; number < 20; ++number) {
    const auto& problem = problems.emplace_back(random_problem(number, random));
    written.add(problem.neighbours.sets.size());
    written.add(problem.width);
    written.add(problem.options.passes);
    written.add(problem.options.rate);
    written.add(static_cast<double>(problem.options.seed));
    for (const auto& set : problem.neighbours.sets) {
      written.add(set.rows);
      written.add_all(set.values);
    }
  }
  const test::TemporaryFolder folder;
  written.save(folder / "problems");
  test::run_python("merge/pfpt_oracle.py",
                   (folder / "problems").string() + " " + (folder / "answers").string());
  const auto answers = test::read_numbers(folder / "answers");
  auto answer = answers.begin();
  std::size_t shrunk = 0;
  for (std::size_t number = 0; number < problems.size(); ++number) {
    SCOPED_TRACE(number);
    const auto& problem = problems[number];
    const auto pool = aggregate_pools(problem.neighbours.views(), problem.options);
    ASSERT_EQ(static_cast<double>(pool.uses.size()), *answer++);
    for (const float value : pool.prompts) ASSERT_NEAR(value, *answer++, 1e-5);
    std::size_t received = 0;
    for (const auto& places : pool.assigned) {
      for (const std::size_t place : places) ASSERT_EQ(static_cast<double>(place), *answer++);
      received += places.size();
    }
    shrunk += pool.uses.size() < received ? 1 : 0;
  }
  EXPECT_EQ(answer, answers.end());
  EXPECT_GT(shrunk, 5u);  // else nothing was ever merged, and any assignment would do
}

// Where everything is drawn from one scale, as prompts are at first, and where it lies far from the origin.
TEST(PoolAggregation, IsThatOfItsSlowVersionAtTheSizeOfRealPools) {
  for (const float offset : {0.0f, 20.0f}) {
    RandomStream random(4, "pools");
    auto neighbours = test::random_neighbours(5, 8, 192, 0.02, random);
    for (auto& set : neighbours.sets)
      for (float& value : set.values) value += offset;
    const PoolAggregationOptions options{.passes = 50, .seed = 3};
    const auto fast = aggregate_pools(neighbours.views(), options);
    const auto slow = aggregate_pools_slowly(neighbours.views(), options);
    ASSERT_EQ(fast.assigned, slow.assigned);
    ASSERT_EQ(fast.uses, slow.uses);
    for (std::size_t i = 0; i < slow.prompts.size(); ++i) ASSERT_NEAR(fast.prompts[i], slow.prompts[i], 1e-4);
  }
}

TEST(PoolAggregation, GivesEveryPromptOfASenderAPlaceOfItsOwn) {
  RandomStream random(2, "pools");
  for (std::size_t number = 0; number < 5; ++number) {
    const auto problem = random_problem(number, random);
    const auto pool = aggregate_pools(problem.neighbours.views(), problem.options);
    std::vector<std::size_t> uses(pool.uses.size(), 0);
    std::size_t largest = 0, sum = 0;
    for (std::size_t s = 0; s < pool.assigned.size(); ++s) {
      const auto& places = pool.assigned[s];
      EXPECT_EQ(std::set<std::size_t>(places.begin(), places.end()).size(), places.size());
      for (const std::size_t place : places) ++uses[place];
      largest = std::max(largest, places.size());
      sum += places.size();
    }
    EXPECT_EQ(uses, pool.uses);
    EXPECT_GE(pool.uses.size(), largest);
    EXPECT_LE(pool.uses.size(), sum);
    EXPECT_EQ(std::ranges::count(pool.uses, std::size_t{0}), 0);
  }
}

TEST(PoolAggregation, ScoresByOneProductWhatTheFormulaSays) {
  RandomStream random(3, "pools");
  const auto points = test::random_points(7, 20, random, 0.5);
  const auto prompts = test::random_points(4, 20, random, 0.5);
  PoolModel model(DoubleMatrix(points.view()), 5);
  model.evaluate();
  const DoubleMatrix senders(prompts.view());
  const std::vector<bool> used = {true, false, false, true, true, true, false};
  DoubleMatrix scores(4, 7);
  model.score(senders, used, scores);
  for (std::size_t j = 0; j < 4; ++j) {
    for (std::size_t i = 0; i < 7; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < 20; ++k) {
        const double sigma = model.spread(i, k), away = senders(j, k) - model.centroids()(i, k);
        sum += -std::log(sigma) - 0.5 * std::log(2 * std::numbers::pi) - away * away / (2 * sigma * sigma);
      }
      const double b = 1 / (1 + std::exp(-model.presence_logit(i)));
      EXPECT_NEAR(scores(j, i), sum + std::log(used[i] ? b : 1 - b), 1e-10);
    }
  }
}

// Widths that fill no vector, one vector, and several; more prompts than a tile has rows.
TEST(PoolAggregation, EvaluatesScoresAndClimbsByProductsAsByLoops) {
  for (const std::size_t width : {3u, 16u, 37u, 130u}) {
    SCOPED_TRACE(width);
    RandomStream random(6, "pools", width);
    const auto points = test::random_points(13, width, random, 0.5);
    const auto prompts = test::random_points(4, width, random, 0.5);
    PoolModel slow(DoubleMatrix(points.view()), 5);
    FastPoolModel fast(DoubleMatrix(points.view()), 5);
    std::vector<bool> used(13, false);
    const std::vector<std::size_t> of = {7, 0, 12, 3};
    for (const std::size_t i : of) used[i] = true;
    DoubleMatrix expected(4, 13), scores(4, 13);
    for (int step = 0; step < 3; ++step) {
      slow.evaluate();
      fast.evaluate();
      slow.score(DoubleMatrix(prompts.view()), used, expected);
      fast.score(DoubleMatrix(prompts.view()), used, scores);
      for (std::size_t j = 0; j < 4; ++j)
        for (std::size_t i = 0; i < 13; ++i)
          EXPECT_NEAR(scores(j, i), expected(j, i), 1e-12 * std::abs(expected(j, i)) + 1e-12);
      slow.ascend(DoubleMatrix(prompts.view()), of, 0.01);
      fast.ascend(DoubleMatrix(prompts.view()), of, 0.01);
      for (std::size_t i = 0; i < 13; ++i)
        for (std::size_t k = 0; k < width; ++k)
          EXPECT_NEAR(fast.centroids()(i, k), slow.centroids()(i, k), 1e-11);
    }
  }
}

std::vector<bool> marks_of(std::span<const std::size_t> assigned, std::size_t count) {
  std::vector<bool> marks(count, false);
  for (const std::size_t i : assigned) marks[i] = true;
  return marks;
}

std::vector<std::size_t> assignment_by_all_scores(FastPoolModel& model, const DoubleMatrix& prompts,
                                                  std::span<const std::size_t> assigned) {
  const std::size_t count = model.centroids().rows();
  DoubleMatrix costs(prompts.rows(), count);
  model.evaluate();
  model.score(prompts, marks_of(assigned, count), costs);
  for (std::size_t j = 0; j < costs.rows(); ++j)
    for (double& cost : costs.row(j)) cost = -cost;
  return assign_rows(costs);
}

// Among prompts that are apart, those that are alike, and those of which several are equal to the last bit,
// near the origin and far from it.
TEST(PoolAggregation, FindsByBoundsTheAssignmentThatAllScoresGive) {
  constexpr std::size_t kSenders = 6, kPrompts = 4, kWidth = 70;
  for (const float noise : {0.5f, 0.01f, 0.0f}) {
    for (const float offset : {0.0f, 20.0f}) {
      SCOPED_TRACE(testing::Message() << noise << " " << offset);
      RandomStream random(8, "pools");
      const auto common = test::random_points(kPrompts, kWidth, random, 0.1);
      std::vector<float> all;
      for (std::size_t s = 0; s < kSenders; ++s)
        for (const float value : common.values)
          all.push_back(offset + value + noise * static_cast<float>(random.normal()));
      FastPoolModel model(DoubleMatrix({all.data(), kSenders * kPrompts, kWidth}), 5);
      std::vector<std::vector<std::size_t>> assigned(kSenders, {3, 9, 20, 14});
      for (std::size_t step = 0; step < 20 * kSenders; ++step) {
        const std::size_t s = step % kSenders;
        const DoubleMatrix prompts({all.data() + s * kPrompts * kWidth, kPrompts, kWidth});
        const auto expected = assignment_by_all_scores(model, prompts, assigned[s]);
        const auto best = model.best_assignment(prompts, assigned[s]);
        ASSERT_EQ(best, expected) << step;
        model.ascend(prompts, assigned[s], 0.003);
        assigned[s] = best;
      }
    }
  }
}

FloatMatrix rounded(const DoubleMatrix& values) {
  FloatMatrix floats(values.rows(), values.cols());
  for (std::size_t r = 0; r < values.rows(); ++r)
    for (std::size_t c = 0; c < values.cols(); ++c) floats(r, c) = static_cast<float>(values(r, c));
  return floats;
}

DoubleMatrix transposed(const DoubleMatrix& values) {
  DoubleMatrix columns(values.cols(), values.rows());
  for (std::size_t r = 0; r < values.rows(); ++r)
    for (std::size_t c = 0; c < values.cols(); ++c) columns(c, r) = values(r, c);
  return columns;
}

// Against the slow version's scores, at weights as they are drawn. Bounds must hold, and be near where the
// logarithm of the presence, which they leave out, is taken off.
TEST(PoolAggregation, BoundsScoresFromAboveAndNotByMuch) {
  constexpr std::size_t kCount = 11, kWidth = 300;
  for (const float offset : {0.0f, 5.0f}) {
    RandomStream random(9, "pools");
    auto points = test::random_points(kCount, kWidth, random, 0.05);
    for (float& value : points.values) value += offset;
    const DoubleMatrix centroids(points.view());
    PoolModel model(centroids, 5);
    const std::vector<bool> used(kCount, true);
    DoubleMatrix scores(kCount, kCount), floors(kCount, kCount);
    model.evaluate();
    model.score(centroids, used, scores);
    const PoolWeights weights(kWidth, PoolModel::kHidden, kWidth, 5, "spread");
    const FloatMatrix phi = rounded(centroids), first = rounded(transposed(weights.weight1)),
                      first_bias = rounded(weights.bias1), spread = rounded(transposed(weights.weight2));
    FloatMatrix spread_bias = rounded(weights.bias2);
    std::fill(spread_bias.row(0).data() + kWidth, spread_bias.row(0).data() + spread_bias.padded_cols(),
              200.f);
    std::vector<std::size_t> all(kCount);
    std::iota(all.begin(), all.end(), std::size_t{0});
    PoolScreen(kCount, PoolModel::kHidden, kWidth)
        .bound({phi, first, first_bias, spread, spread_bias}, centroids, all, floors);
    for (std::size_t i = 0; i < kCount; ++i) {
      const double logit = model.presence_logit(i), presence = -std::log1p(std::exp(-logit));
      for (std::size_t j = 0; j < kCount; ++j) {
        const double cost = presence - scores(j, i);
        ASSERT_LE(floors(j, i), cost);
        ASSERT_GE(floors(j, i), cost - (offset == 0 ? 0.1 : 2));  // rounding grows with what is rounded
      }
    }
  }
}

}  // namespace
}  // namespace dfrost

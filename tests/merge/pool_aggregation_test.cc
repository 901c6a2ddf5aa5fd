// PFPT's aggregation, against PyTorch and scipy and against its own slow obvious version.
#include "merge/pool_aggregation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "merge/neighbours.h"
#include "merge/pool_model.h"
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

}  // namespace
}  // namespace dfrost

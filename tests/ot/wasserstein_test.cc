#include "dfrost/wasserstein.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/numbers.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::Points;

struct Problem {
  Points a, b;
  std::vector<double> a_weights, b_weights;
  Measure from() const { return {a.view(), a_weights}; }
  Measure to() const { return {b.view(), b_weights}; }
};

std::vector<double> random_weights(std::size_t count, std::size_t kind, RandomStream& random) {
  switch (kind % 4) {
    case 0: return {};
    case 1: return random.dirichlet(count, 0.1);  // some are zero or nearly so
    default: return random.dirichlet(count, 1.0);
  }
}

Problem random_problem(std::size_t kind, RandomStream& random) {
  const std::size_t rows = 1 + random.below(70), cols = kind % 5 == 0 ? rows : 1 + random.below(70);
  const std::size_t width = 1 + random.below(8);
  Problem problem{test::random_points(rows, width, random), test::random_points(cols, width, random),
                  random_weights(rows, kind, random), random_weights(cols, kind / 2, random)};
  if (kind % 7 == 0) {  // points that coincide, within a side and across
    for (std::size_t r = 0; r < rows; r += 2)
      std::ranges::copy(problem.b.row(r % cols), problem.a.row(r).begin());
  }
  return problem;
}

void write(const Problem& problem, test::NumberWriter& file) {
  file.add(problem.a.rows)
      .add(problem.b.rows)
      .add(problem.a.cols)
      .add_all(problem.a.values)
      .add_all(problem.b.values);
  for (const auto& [weights, count] :
       {std::pair(problem.a_weights, problem.a.rows), std::pair(problem.b_weights, problem.b.rows)}) {
    file.add_all(weights.empty() ? std::vector<double>(count, 1.0 / static_cast<double>(count)) : weights);
  }
}

TEST(Wasserstein, EqualsPotsExactSolverOnRandomProblemsOfEverySizeAndWeight) {
  const test::TemporaryFolder folder;
  RandomStream random(1, "emd2");
  test::NumberWriter file;
  std::vector<double> ours;
  for (std::size_t kind = 0; kind < 240; ++kind) {
    const Problem problem = random_problem(kind, random);
    write(problem, file);
    ours.push_back(wasserstein2_squared(problem.from(), problem.to()).w2_squared);
  }
  file.save(folder / "problems");
  test::run_python("ot/oracle.py",
                   "emd2 " + (folder / "problems").string() + " " + (folder / "answers").string());
  const auto answers = test::read_numbers(folder / "answers");
  ASSERT_EQ(answers.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    EXPECT_NEAR(ours[i], answers[i], 1e-9 * answers[i]) << "problem " << i;
}

TEST(Wasserstein, ThePlanMovesAllOfOneMeasureOntoTheOther) {
  RandomStream random(2, "marginals");
  for (std::size_t kind = 0; kind < 60; ++kind) {
    const Problem problem = random_problem(kind, random);
    std::vector<double> left(problem.a.rows), right(problem.b.rows);
    for (const auto& entry : wasserstein2_squared(problem.from(), problem.to()).plan) {
      EXPECT_GT(entry.mass, 0);
      left[entry.from] += entry.mass;
      right[entry.to] += entry.mass;
    }
    for (std::size_t r = 0; r < left.size(); ++r) {
      EXPECT_NEAR(left[r],
                  problem.a_weights.empty() ? 1.0 / static_cast<double>(left.size()) : problem.a_weights[r],
                  1e-14);
    }
    for (std::size_t r = 0; r < right.size(); ++r) {
      EXPECT_NEAR(right[r],
                  problem.b_weights.empty() ? 1.0 / static_cast<double>(right.size()) : problem.b_weights[r],
                  1e-14);
    }
  }
}

TEST(Wasserstein, IsZeroBetweenASetAndItsReordering) {
  RandomStream random(3, "reorder");
  auto a = test::random_points(10, 768, random);
  Points b(10, 768);
  const auto order = random.permutation(10);
  for (std::size_t r = 0; r < 10; ++r) std::ranges::copy(a.row(order[r]), b.row(r).begin());
  const auto found = wasserstein2_squared({a.view()}, {b.view()});
  EXPECT_EQ(found.w2_squared, 0);
  for (const auto& entry : found.plan) EXPECT_EQ(order[entry.to], entry.from);
}

TEST(Wasserstein, GrowsByTheSquareOfAShiftAndOfAScale) {
  RandomStream random(4, "shift");
  auto a = test::random_points(6, 3, random);
  auto b = a;
  for (std::size_t r = 0; r < 6; ++r) b.row(r)[1] += 2;
  EXPECT_NEAR(wasserstein2_squared({a.view()}, {b.view()}).w2_squared, 4, 1e-6);
  const auto c = test::random_points(9, 3, random);
  const double before = wasserstein2_squared({a.view()}, {c.view()}).w2_squared;
  auto a8 = a, c8 = c;
  for (float& x : a8.values) x *= 8;
  for (float& x : c8.values) x *= 8;
  EXPECT_DOUBLE_EQ(wasserstein2_squared({a8.view()}, {c8.view()}).w2_squared, 64 * before);
}

TEST(Wasserstein, EndsWhateverTheSizesAndHoweverManyTies) {
  RandomStream random(8, "ties");
  for (const auto& [rows, cols] :
       {std::pair<std::size_t, std::size_t>{10, 60}, {60, 10}, {12, 500}, {97, 89}}) {
    Points a(rows, 2), b(cols, 2);
    for (float& value : a.values) value = static_cast<float>(random.below(3));
    for (float& value : b.values) value = static_cast<float>(random.below(3));
    const double there = wasserstein2_squared({a.view()}, {b.view()}).w2_squared;
    EXPECT_NEAR(there, wasserstein2_squared({b.view()}, {a.view()}).w2_squared, 1e-12);
    EXPECT_TRUE(there >= 0 && there <= 8);
  }
}

// Every point and its copy 4096 to the side; on a grid of 1/1024, where floats add without rounding.
Points with_copy_far_away(Points points) {
  for (float& value : points.values) value = std::round(value * 1024) / 1024;
  Points both(2 * points.rows, points.cols, points.values);
  both.values.insert(both.values.begin(), points.values.begin(), points.values.end());
  both.values.resize(both.rows * both.cols);
  for (std::size_t r = 0; r < points.rows; ++r) both.row(r)[0] += 4096;
  return both;
}

TEST(Wasserstein, KeepsItsDigitsBetweenClustersThatLieFarApart) {
  RandomStream random(9, "clusters");
  const auto a = with_copy_far_away(test::random_points(8, 2, random));
  const auto b = with_copy_far_away(test::random_points(12, 2, random));
  const double near =
      wasserstein2_squared({a.view().rows_from(8, 8)}, {b.view().rows_from(12, 12)}).w2_squared;
  EXPECT_NEAR(wasserstein2_squared({a.view()}, {b.view()}).w2_squared, near, 1e-9 * near);
}

TEST(Wasserstein, EqualWeightsGivenOrNotAreTheSame) {
  RandomStream random(5, "weights");
  const auto a = test::random_points(30, 4, random), b = test::random_points(30, 4, random);
  const std::vector<double> equal(30, 1.0 / 30);
  EXPECT_NEAR(wasserstein2_squared({a.view(), equal}, {b.view(), equal}).w2_squared,
              wasserstein2_squared({a.view()}, {b.view()}).w2_squared, 1e-12);
}

TEST(Wasserstein, IsRightForCoordinatesFarFromOne) {
  for (const float scale : {1e-20f, 1e15f}) {
    const Points a(2, 1, {0, 3 * scale}), b(3, 1, {0, scale, 4 * scale});
    // By hand on the line, thirds and halves: 1/3·0 + 1/6·1 + 1/6·4 + 1/3·1.
    const double expected = (1.0 / 6 + 4.0 / 6 + 1.0 / 3) * std::pow(static_cast<double>(scale), 2);
    EXPECT_NEAR(wasserstein2_squared({a.view()}, {b.view()}).w2_squared, expected, 1e-6 * expected);
  }
}

TEST(Wasserstein, TakesThousandsOfPointsAndAnyWidth) {
  RandomStream random(6, "large");
  const auto many = test::random_points(5000, 2, random), few = test::random_points(10, 2, random);
  const double large = wasserstein2_squared({many.view()}, {few.view()}).w2_squared;
  EXPECT_TRUE(std::isfinite(large) && large > 0);
  for (const std::size_t width : {1, 5, 4096}) {
    const auto a = test::random_points(3, width, random), b = test::random_points(1, width, random);
    double expected = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      expected +=
          std::pow(static_cast<double>(a.values[i]) - static_cast<double>(b.values[i % width]), 2) / 3;
    }
    EXPECT_NEAR(wasserstein2_squared({a.view()}, {b.view()}).w2_squared, expected, 1e-12 * expected);
  }
}

TEST(Wasserstein, RefusesWhatIsNotAMeasureAndSaysWhich) {
  const Points a(2, 3), b(2, 4);
  auto bad = a;
  bad.values[4] = std::numeric_limits<float>::quiet_NaN();
  const auto measure = [](const Points& points, std::span<const double> weights = {}) {
    return Measure{points.view(), weights};
  };
  const auto refuses = [&](const std::string& text, const Measure& from, const Measure& to) {
    test::expect_error(ErrorCode::invalid_argument, text, [&] { wasserstein2_squared(from, to); });
  };
  const std::vector<double> short_sum = {0.5, 0.4}, negative = {1.5, -0.5}, three = {0.2, 0.3, 0.5};
  refuses("4 columns", measure(a), measure(b));
  refuses("row 1, column 1 is nan", measure(bad), measure(a));
  bad.values[4] = -std::numeric_limits<float>::infinity();
  refuses("second measure", measure(a), measure(bad));
  refuses("empty", measure(a), Measure{});
  refuses("sum to 0.9", measure(a, short_sum), measure(a));
  refuses("-0.5", measure(a), measure(a, negative));
  refuses("3 weights for 2", measure(a, three), measure(a));
}

}  // namespace
}  // namespace dfrost

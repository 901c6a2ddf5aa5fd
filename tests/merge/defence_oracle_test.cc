// Defended merges against NumPy, SciPy and POT.
#include <gtest/gtest.h>

#include <cmath>

#include "merge/neighbours.h"
#include "merge/ot_merge.h"
#include "merge/robust_mean.h"
#include "merge/set_defence.h"
#include "merge/start.h"
#include "support/support.h"

namespace dfrost {
namespace {

class Answers {
 public:
  Answers(const std::string& kind, const test::NumberWriter& problems) {
    const test::TemporaryFolder folder;
    problems.save(folder / "problems");
    test::run_python("merge/oracle.py",
                     kind + " " + (folder / "problems").string() + " " + (folder / "answers").string());
    numbers_ = test::read_numbers(folder / "answers");
  }

  void expect_next(double ours, const char* what) {
    const double theirs = numbers_.at(at_++);
    EXPECT_NEAR(ours, theirs, 1e-9 * (1 + std::abs(theirs))) << what;
  }
  bool at_end() const { return at_ == numbers_.size(); }

 private:
  std::vector<double> numbers_;
  std::size_t at_ = 0;
};

TEST(RobustMerge, EqualsItsNumPyReference) {
  RandomStream random(1, "robust reference");
  test::NumberWriter problems;
  struct Case {
    test::Neighbours neighbours;
    MergeOptions options;
    std::size_t prompts = 0;
  };
  std::vector<Case> cases;
  for (std::size_t kind = 0; kind < 60; ++kind) {
    Case& made = cases.emplace_back();
    const std::size_t width = 2 + random.below(20);
    for (std::size_t s = 0; s < 2 + random.below(5); ++s)
      made.neighbours.sets.push_back(test::random_points(2 + random.below(8), width, random));
    made.prompts = 1 + random.below(8);
    made.options.epsilon = std::pow(10.0, random.uniform(-1, 1));
    made.options.lambda = std::pow(10.0, random.uniform(-4, 0));
    made.options.steps = 1 + random.below(20);
    made.options.form = kind % 2 == 0 ? MergeForm::direct : MergeForm::gram;
    if (kind % 3 != 0) made.options.trim = random.uniform(0.01, 0.6);
    if (kind % 3 != 1) made.options.median = random.uniform(0.2, 1.5);
    const auto all = made.neighbours.gathered();
    problems.add(all.rows.rows()).add(made.prompts).add(width).add(made.options.steps);
    problems.add(made.options.epsilon).add(made.options.lambda).add(made.options.sigma2);
    problems.add(made.options.trim).add(made.options.median).add(made.neighbours.sets[0].rows);
    problems.add_all(all.mass);
    for (std::size_t a = 0; a < all.rows.rows(); ++a) problems.add_all(all.rows.row(a));
    for (const std::size_t row : choose_start(all, made.prompts, made.options))
      problems.add_all(all.rows.row(row));
  }
  Answers answers("robust", problems);
  for (const auto& [neighbours, options, prompts] : cases) {
    const auto found = ot_merge(neighbours.gathered(), prompts, options);
    for (std::size_t i = 0; i < prompts; ++i)
      for (const double value : found.prompts.row(i)) answers.expect_next(value, "prompt");
    for (const double value : found.summary.plan) answers.expect_next(value, "plan");
  }
  EXPECT_TRUE(answers.at_end());
}

TEST(ClippedSets, LieOnTheGeodesicThatPotFinds) {
  RandomStream random(2, "clip reference");
  test::NumberWriter problems;
  std::vector<ClippedSet> ours;
  for (std::size_t problem = 0; problem < 40; ++problem) {
    const std::size_t own_rows = 2 + random.below(9), width = 1 + random.below(12);
    const std::size_t rows = problem % 2 == 0 ? own_rows : 2 + random.below(9);
    const std::array sets = {test::random_points(own_rows, width, random),
                             test::random_points(rows, width, random, 3)};
    const double radius = random.uniform(0.1, 1);
    problems.add(rows).add(own_rows).add(width).add(radius);
    problems.add_all(sets[1].values).add_all(sets[0].values);
    const std::array views = {sets[0].view(), sets[1].view()};
    ours.push_back(clip_sets(views, {.radius = radius}).front());
    ASSERT_TRUE(ours.back().is_clipped());
    if (ours.back().masses.empty()) ours.back().masses.assign(rows, 1 / static_cast<double>(rows));
  }
  Answers answers("clip", problems);
  for (const auto& [points, masses, distance] : ours) {
    answers.expect_next(static_cast<double>(masses.size()), "rows");
    const std::size_t width = points.size() / masses.size();
    for (std::size_t r = 0; r < masses.size(); ++r) {
      for (std::size_t i = 0; i < width; ++i) answers.expect_next(points[r * width + i], "point");
      answers.expect_next(masses[r], "mass");
    }
  }
  EXPECT_TRUE(answers.at_end());
}

TEST(OutlyingSets, AreThoseThatPotsDistancesSay) {
  RandomStream random(3, "reject reference");
  test::NumberWriter problems;
  std::vector<bool> ours;
  for (std::size_t problem = 0; problem < 30; ++problem) {
    const std::size_t senders = 3 + random.below(5);
    auto neighbours = test::random_neighbours(senders, 4, 6, 0.3, random);
    for (float& value : neighbours.sets.back().values) value *= static_cast<float>(random.uniform(1, 6));
    const double factor = random.uniform(1, 2);
    problems.add(senders).add(std::size_t{4}).add(std::size_t{6}).add(factor);
    for (const auto& set : neighbours.sets) problems.add_all(set.values);
    const auto views = neighbours.views();
    const auto outlying = outlying_sets(views, factor);
    ours.insert(ours.end(), outlying.begin(), outlying.end());
  }
  Answers answers("outliers", problems);
  for (const bool outlying : ours) answers.expect_next(outlying ? 1 : 0, "outlier");
  EXPECT_TRUE(answers.at_end());
}

TEST(RobustMeans, EqualNumPysTrimmedMeanAndNewtonsGeometricMedian) {
  RandomStream random(4, "means reference");
  test::NumberWriter problems;
  std::vector<double> ours;
  for (std::size_t problem = 0; problem < 40; ++problem) {
    const std::size_t count = 3 + random.below(6), size = 2 + random.below(8);
    const auto vectors = test::random_points(count, size, random);
    const auto weights = random.dirichlet(count, 3.0);
    const double share = random.uniform(0.01, 0.45), radius = random.uniform(0.3, 1);
    problems.add(count).add(size).add(share).add(radius).add_all(weights).add_all(vectors.values);
    std::vector<const float*> rows;
    for (std::size_t s = 0; s < count; ++s) rows.push_back(vectors.view().row(s).data());
    const WeightedVectors all{rows, weights, size};
    for (const double value : trimmed_mean(all, share)) ours.push_back(value);
    for (const double value : geometric_median(all, radius).point) ours.push_back(value);
  }
  Answers answers("means", problems);
  for (const double value : ours) answers.expect_next(value, "mean");
  EXPECT_TRUE(answers.at_end());
}

}  // namespace
}  // namespace dfrost

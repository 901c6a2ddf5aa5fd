#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "merge/neighbours.h"
#include "merge/ot_merge.h"
#include "merge/start.h"
#include "merge/transport_step.h"
#include "ot/row_kernels.h"
#include "support/support.h"

namespace dfrost {
namespace {

std::vector<double> ask(const std::string& kind, const test::NumberWriter& problems) {
  const test::TemporaryFolder folder;
  problems.save(folder / "problems");
  test::run_python("merge/oracle.py",
                   kind + " " + (folder / "problems").string() + " " + (folder / "answers").string());
  return test::read_numbers(folder / "answers");
}

void expect_near(double ours, double theirs, const std::string& what) {
  EXPECT_NEAR(ours, theirs, 1e-9 * (1 + std::abs(theirs))) << what;
}

// Senders of different sizes, and every option that changes the numbers within the plain iteration.
struct Case {
  test::Neighbours neighbours;
  MergeOptions options;
  std::size_t prompts;
};

Case random_case(std::size_t kind, RandomStream& random) {
  Case result;
  const std::size_t width = 1 + random.below(30);
  const double scale = std::pow(10.0, static_cast<double>(random.below(3)) - 2);
  for (std::size_t s = 0; s <= random.below(5); ++s) {
    result.neighbours.sets.push_back(test::random_points(1 + random.below(12), width, random, scale));
  }
  result.prompts = 1 + random.below(10);
  result.options.epsilon = scale * scale * std::pow(10.0, random.uniform(-2, 1));
  result.options.lambda = kind % 4 == 0 ? 0.0 : std::pow(10.0, random.uniform(-4, 0));
  result.options.sigma2 = random.uniform(0.5, 2);
  result.options.steps = 1 + random.below(30);
  result.options.init = kind % 2 == 0 ? MergeInit::own : MergeInit::kmeans_plus_plus;
  result.options.form = kind % 3 == 0 ? MergeForm::direct : MergeForm::gram;
  return result;
}

// Many rows at the scale of prompts, which take all steps and come to rest before the last: senders that
// drifted from one start, or that never had one.
Case large_case(std::size_t kind, RandomStream& random) {
  Case result;
  result.prompts = 10;
  const auto shared = test::random_points(10, 96, random, 0.06);
  for (std::size_t s = 0; s < 20; ++s) {
    result.neighbours.sets.push_back(test::random_points(10, 96, random, kind % 2 == 0 ? 0.06 : 0.02));
    if (kind % 2 == 0) continue;
    auto& values = result.neighbours.sets.back().values;
    std::ranges::transform(values, shared.values, values.begin(), std::plus());
  }
  result.options.form = kind < 2 ? MergeForm::direct : MergeForm::gram;
  return result;
}

TEST(OtMerge, EqualsTheTenLineNumPyReference) {
  RandomStream random(1, "reference");
  test::NumberWriter problems;
  std::vector<Case> cases;
  for (std::size_t kind = 0; kind < 124; ++kind) {
    cases.push_back(kind < 120 ? random_case(kind, random) : large_case(kind - 120, random));
    const auto& [neighbours, options, prompts] = cases.back();
    const auto all = neighbours.gathered();
    problems.add(all.rows.rows()).add(prompts).add(all.rows.cols()).add(options.steps);
    problems.add(options.epsilon).add(options.lambda).add(options.sigma2).add_all(all.mass);
    for (std::size_t a = 0; a < all.rows.rows(); ++a) problems.add_all(all.rows.row(a));
    for (const std::size_t row : choose_start(all, prompts, options)) problems.add_all(all.rows.row(row));
  }
  const auto answers = ask("merge", problems);
  std::size_t at = 0;
  for (const auto& [neighbours, options, prompts] : cases) {
    const auto found = ot_merge(neighbours.gathered(), prompts, options);
    for (std::size_t i = 0; i < prompts; ++i) {
      for (const double value : found.prompts.row(i)) expect_near(value, answers.at(at++), "prompt");
    }
    for (const double value : found.summary.objective) expect_near(value, answers.at(at++), "objective");
    for (const double value : found.summary.plan) expect_near(value, answers.at(at++), "plan");
  }
  EXPECT_EQ(at, answers.size());
}

TEST(TransportStep, EqualsTheSemiRelaxedLimitOfPotsUnbalancedSinkhorn) {
  RandomStream random(2, "plan");
  test::NumberWriter problems;
  std::vector<double> ours;
  for (std::size_t problem = 0; problem < 12; ++problem) {
    const std::size_t rows = 1 + random.below(40), prompts = 1 + random.below(10),
                      width = 1 + random.below(5);
    const DoubleMatrix z(test::random_points(rows, width, random).view());
    const DoubleMatrix phi(test::random_points(prompts, width, random).view());
    const auto mass = random.dirichlet(rows, 2.0);
    const double epsilon = random.uniform(0.1, 3), sigma2 = random.uniform(0.5, 2);
    problems.add(rows).add(prompts).add(width).add(epsilon).add(sigma2).add_all(mass);
    for (std::size_t a = 0; a < rows; ++a) problems.add_all(z.row(a));
    for (std::size_t i = 0; i < prompts; ++i) problems.add_all(phi.row(i));
    DoubleMatrix distances(prompts, rows), plan(prompts, rows), mass_and_log(2, rows);
    std::vector<double> column_mass(prompts);
    for (std::size_t a = 0; a < rows; ++a) {
      mass_and_log(0, a) = mass[a];
      mass_and_log(1, a) = std::log(mass[a]);
    }
    squared_distances(phi, z, distances);
    transport_step(distances, 1 / (2 * sigma2 * epsilon), mass_and_log, plan, column_mass);
    for (std::size_t a = 0; a < rows; ++a) {
      for (std::size_t i = 0; i < prompts; ++i) ours.push_back(plan(i, a));
    }
  }
  const auto answers = ask("plan", problems);
  ASSERT_EQ(answers.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) expect_near(ours[i], answers[i], "plan");
}

TEST(AverageMerge, EqualsNumPysWeightedAverage) {
  RandomStream random(3, "average");
  test::NumberWriter problems;
  std::vector<float> ours;
  for (std::size_t problem = 0; problem < 12; ++problem) {
    const std::size_t senders = 1 + random.below(6), prompts = 1 + random.below(8),
                      width = 1 + random.below(20);
    const auto neighbours = test::random_neighbours(senders, prompts, width, 1, random);
    const auto weights = random.dirichlet(senders, 1.0);
    problems.add(senders).add(prompts).add(width).add_all(weights);
    for (const auto& set : neighbours.sets) problems.add_all(set.values);
    test::Points merged(prompts, width);
    const auto views = neighbours.views();
    merge({.senders = views, .weights = weights}, {.kind = MergeKind::average}, merged.view());
    ours.insert(ours.end(), merged.values.begin(), merged.values.end());
  }
  const auto answers = ask("average", problems);
  ASSERT_EQ(answers.size(), ours.size());
  // Both round the same real number to a float, up to the last bit of the double before it.
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_FLOAT_EQ(ours[i], static_cast<float>(answers[i]));
}

}  // namespace
}  // namespace dfrost

#include "ot/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ot/row_assignment.h"
#include "support/numbers.h"
#include "support/support.h"

namespace dfrost {
namespace {

double total(const DoubleMatrix& cost, std::span<const std::size_t> column_of) {
  double sum = 0;
  for (std::size_t row = 0; row < column_of.size(); ++row) sum += cost(row, column_of[row]);
  return sum;
}

TEST(Assignment, CostsWhatScipySaysItMustCost) {
  const test::TemporaryFolder folder;
  RandomStream random(1, "assignment");
  test::NumberWriter problems;
  std::vector<double> ours;
  for (std::size_t problem = 0; problem < 200; ++problem) {
    const std::size_t n = 1 + random.below(40);
    DoubleMatrix cost(n, n);
    for (std::size_t r = 0; r < n; ++r) {
      // Every third problem draws from few values, so that ties abound.
      for (double& c : cost.row(r))
        c = problem % 3 == 0 ? static_cast<double>(random.below(4)) : random.normal();
    }
    problems.add(n);
    for (std::size_t r = 0; r < n; ++r) problems.add_all(cost.row(r));
    AssignmentSolver solver(n);
    const auto column_of = solver.solve(cost);
    EXPECT_EQ(std::set<std::size_t>(column_of.begin(), column_of.end()).size(), n);
    ours.push_back(total(cost, column_of));
  }
  problems.save(folder / "problems");
  test::run_python("ot/oracle.py",
                   "assignment " + (folder / "problems").string() + " " + (folder / "answers").string());
  const auto answers = test::read_numbers(folder / "answers");
  ASSERT_EQ(answers.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], answers[i], 1e-12) << i;
}

TEST(RowAssignment, CostsWhatScipySaysItMustCost) {
  const test::TemporaryFolder folder;
  RandomStream random(2, "assignment of rows");
  test::NumberWriter problems;
  std::vector<double> ours;
  for (std::size_t problem = 0; problem < 200; ++problem) {
    const std::size_t n = 1 + random.below(20), columns = n + random.below(30);
    DoubleMatrix cost(n, columns);
    problems.add(n).add(columns);
    for (std::size_t r = 0; r < n; ++r) {
      for (double& c : cost.row(r))
        c = problem % 3 == 0 ? static_cast<double>(random.below(4)) : random.normal();
      problems.add_all(cost.row(r));
    }
    const auto column_of = assign_rows(cost);
    EXPECT_EQ(std::set<std::size_t>(column_of.begin(), column_of.end()).size(), n);
    ours.push_back(total(cost, column_of));
  }
  problems.save(folder / "problems");
  test::run_python("ot/oracle.py",
                   "rows " + (folder / "problems").string() + " " + (folder / "answers").string());
  const auto answers = test::read_numbers(folder / "answers");
  ASSERT_EQ(answers.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], answers[i], 1e-12) << i;
}

// Of all assignments of rows [row …), how many cost `best` or less, to the last bit of small whole numbers.
std::size_t count_best(const DoubleMatrix& cost, double best, std::size_t row, std::vector<bool>& taken,
                       double spent) {
  if (row == cost.rows()) return spent <= best ? 1 : 0;
  std::size_t count = 0;
  for (std::size_t c = 0; c < cost.cols(); ++c) {
    if (taken[c]) continue;
    taken[c] = true;
    count += count_best(cost, best, row + 1, taken, spent + cost(row, c));
    taken[c] = false;
  }
  return count;
}

TEST(Assignment, OfRowsIsKnownToBeTheOnlyBestOne) {
  RandomStream random(7, "assignment");
  std::size_t alone = 0, shared = 0;
  for (int problem = 0; problem < 300; ++problem) {
    const std::size_t n = 1 + random.below(4), columns = n + random.below(3);
    DoubleMatrix cost(n, columns);
    for (std::size_t r = 0; r < n; ++r)
      for (double& c : cost.row(r)) c = static_cast<double>(random.below(8)) - 3;
    const auto column_of = assign_rows(cost);
    std::vector<bool> taken(columns, false);
    const bool only = count_best(cost, total(cost, column_of), 0, taken, 0) == 1;
    EXPECT_EQ(is_only_best(cost, column_of), only) << problem;
    ++(only ? alone : shared);
  }
  EXPECT_GT(alone, 50u);
  EXPECT_GT(shared, 50u);
}

TEST(Assignment, IsAPermutationWhenAllCostsAreEqual) {
  AssignmentSolver solver(4);
  const auto column_of = solver.solve(DoubleMatrix(4, 4));
  EXPECT_EQ(std::set<std::size_t>(column_of.begin(), column_of.end()).size(), 4u);
}

TEST(Assignment, IsTheSameWhenASolverIsUsedAgain) {
  RandomStream random(2, "assignment");
  DoubleMatrix first(7, 7), second(7, 7);
  for (std::size_t r = 0; r < 7; ++r) {
    for (double& c : first.row(r)) c = random.uniform();
    for (double& c : second.row(r)) c = random.uniform();
  }
  AssignmentSolver reused(7), fresh(7);
  reused.solve(first);
  const auto again = reused.solve(second), once = fresh.solve(second);
  EXPECT_TRUE(std::equal(again.begin(), again.end(), once.begin()));
}

}  // namespace
}  // namespace dfrost

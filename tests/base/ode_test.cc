#include "base/ode.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/safetensors.h"
#include "dfrost/error.h"
#include "support/support.h"

namespace dfrost {
namespace {

std::vector<double> even_times(double end, std::size_t steps) {
  std::vector<double> times(steps + 1);
  for (std::size_t i = 0; i <= steps; ++i)
    times[i] = end * static_cast<double>(i) / static_cast<double>(steps);
  return times;
}

struct Problem {
  std::string name;
  OdeFunction f;
  std::vector<double> start;
};

const std::vector<Problem> kProblems = {
    {"decay",
     [](double, auto y, auto d) {
       d[0] = -y[0];
       d[1] = -y[1];
     },
     {1, -2}},
    {"oscillator",
     [](double, auto y, auto d) {
       d[0] = y[1];
       d[1] = 2 * (1 - y[0] * y[0]) * y[1] - y[0];
     },
     {2, 0}},
    {"stiff",
     [](double t, auto y, auto d) {
       d[0] = -80 * (y[0] - std::cos(t));
       d[1] = y[0] - y[1];
     },
     {0, 1}},
};

TEST(Ode, StepsAndInterpolatesAsScipyDoes) {
  const test::TemporaryFolder folder;
  test::run_python("base/ode_oracle.py", fmt::format("'{}'", folder.path().string()));
  const SafetensorsFile file(folder / "ode.safetensors");
  for (const auto& problem : kProblems) {
    SCOPED_TRACE(problem.name);
    const auto theirs = read_floats(file.content().at(problem.name), problem.name);
    auto y = problem.start;
    std::size_t seen = 0;
    const auto summary =
        solve_ode(problem.f, even_times(12, 60), y, {.relative = 1e-6, .absolute = 1e-8},
                  [&](std::size_t index, std::span<const double> at) {
                    EXPECT_EQ(index, seen++);
                    for (std::size_t i = 0; i < at.size(); ++i)
                      EXPECT_NEAR(at[i], static_cast<double>(theirs[index * at.size() + i]), 1e-6);
                  });
    EXPECT_TRUE(summary.finished);
    EXPECT_EQ(seen, 61u);
    EXPECT_NEAR(y[0], static_cast<double>(theirs[60 * y.size()]), 1e-6);
  }
}

TEST(Ode, IsAsExactAsItsTolerancesSay) {
  for (const double tolerance : {1e-4, 1e-7, 1e-10}) {
    std::vector<double> y = {1};
    double worst = 0;
    const auto times = even_times(5, 50);
    solve_ode(
        [](double, auto x, auto d) { d[0] = -x[0]; }, times, y,
        {.relative = tolerance, .absolute = tolerance},
        [&](std::size_t i, auto at) { worst = std::max(worst, std::abs(at[0] - std::exp(-times[i]))); });
    EXPECT_LT(worst, 10 * tolerance);
    EXPECT_GT(worst, 0);
  }
}

TEST(Ode, GivesUpWhereThereIsNoSolution) {
  std::vector<double> y = {1};
  const auto blown_up = solve_ode([](double, auto x, auto d) { d[0] = x[0] * x[0]; }, even_times(2, 4), y, {},
                                  [](std::size_t, auto) {});
  EXPECT_FALSE(blown_up.finished);
  const auto impatient = solve_ode([](double t, auto, auto d) { d[0] = std::cos(t); }, even_times(1000, 4), y,
                                   {.most_steps = 5}, [](std::size_t, auto) {});
  EXPECT_FALSE(impatient.finished);
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(
      solve_ode([&](double, auto, auto d) { d[0] = nan; }, even_times(1, 2), y, {}, [](std::size_t, auto) {})
          .finished);
}

}  // namespace
}  // namespace dfrost

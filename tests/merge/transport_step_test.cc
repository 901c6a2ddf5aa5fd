#include "merge/transport_step.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/numbers.h"

namespace dfrost {
namespace {

TEST(TransportStep, EqualsTheObviousLoop) {
  RandomStream random(1, "step");
  for (const std::size_t rows : {1, 3, 8, 61}) {
    for (const std::size_t prompts : {1, 2, 10}) {
      for (const double scale : {1e-8, 1.0, 50.0, 1e8}) {
        DoubleMatrix distances(prompts, rows), fast(prompts, rows), mass_and_log(2, rows);
        for (std::size_t a = 0; a < rows; ++a) {
          mass_and_log(0, a) = 1.0 / static_cast<double>(rows);
          mass_and_log(1, a) = -std::log(static_cast<double>(rows));
          for (std::size_t i = 0; i < prompts; ++i) distances(i, a) = random.uniform(0, 3);
        }
        DoubleMatrix slow = fast;
        std::vector<double> fast_mass(prompts), slow_mass(prompts);
        const auto f = transport_step(distances, scale, mass_and_log, fast, fast_mass);
        const auto s = reference::transport_step(distances, scale, mass_and_log, slow, slow_mass);
        EXPECT_NEAR(f.entropy, s.entropy, 1e-13 * std::abs(s.entropy));
        EXPECT_NEAR(f.squared_plan_change, s.squared_plan_change, 1e-13);
        for (std::size_t i = 0; i < prompts; ++i) {
          EXPECT_NEAR(fast_mass[i], slow_mass[i], 1e-14);
          for (std::size_t a = 0; a < rows; ++a) EXPECT_NEAR(fast(i, a), slow(i, a), 1e-15);
        }
      }
    }
  }
}

TEST(TransportStep, EveryRowKeepsItsMassHoweverSharpTheSoftmax) {
  RandomStream random(2, "mass");
  for (const double scale : {1e-300, 1.0, 1e12, 1e100}) {
    DoubleMatrix distances(7, 20), plan(7, 20), mass_and_log(2, 20);
    for (std::size_t a = 0; a < 20; ++a) {
      mass_and_log(0, a) = a == 3 ? 0.0 : 1.0 / 19;
      mass_and_log(1, a) = a == 3 ? 0.0 : -std::log(19.0);
      for (std::size_t i = 0; i < 7; ++i) distances(i, a) = random.uniform(0, 1e20);
    }
    std::vector<double> column_mass(7);
    const auto step = transport_step(distances, scale, mass_and_log, plan, column_mass);
    EXPECT_TRUE(std::isfinite(step.entropy));
    for (std::size_t a = 0; a < 20; ++a) {
      double sum = 0;
      for (std::size_t i = 0; i < 7; ++i) sum += plan(i, a);
      EXPECT_NEAR(sum, mass_and_log(0, a), 1e-15);
    }
  }
}

TEST(TransportCost, IsTheSumOfMassTimesDistance) {
  DoubleMatrix plan(2, 3), distances(2, 3);
  for (std::size_t a = 0; a < 3; ++a) {
    plan(0, a) = 0.1;
    plan(1, a) = 0.2;
    distances(0, a) = static_cast<double>(a);
    distances(1, a) = 10;
  }
  EXPECT_NEAR(transport_cost(plan, distances), 0.1 * 3 + 0.2 * 30, 1e-15);
}

}  // namespace
}  // namespace dfrost

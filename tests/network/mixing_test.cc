#include "network/mixing.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "measure/mixing_factor.h"
#include "network/faults.h"

namespace dfrost {
namespace {

double weight(const MixingMatrix& mixing, ClientId a, ClientId b) {
  if (a == b) return mixing.self_weight(a);
  const auto neighbours = mixing.graph().neighbours(a);
  const auto found = std::lower_bound(neighbours.begin(), neighbours.end(), b);
  if (found == neighbours.end() || *found != b) return 0;
  return mixing.neighbour_weights(a)[static_cast<std::size_t>(found - neighbours.begin())];
}

TEST(MixingMatrix, HasTheWeightsOfTheFormula) {
  const MixingMatrix mixing(Graph(4, {{0, 1}, {1, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(weight(mixing, 0, 1), 1.0 / 4);  // degrees 1 and 3
  EXPECT_EQ(weight(mixing, 2, 3), 1.0 / 3);  // degrees 2 and 2
  EXPECT_EQ(weight(mixing, 0, 2), 0);
  EXPECT_EQ(weight(mixing, 0, 0), 3.0 / 4);
  EXPECT_EQ(weight(mixing, 1, 1), 1.0 / 4);
}

TEST(MixingMatrix, IsSymmetricAndDoublyStochasticWhateverFails) {
  for (const auto kind : {TopologyKind::ring, TopologyKind::grid, TopologyKind::erdos_renyi,
                          TopologyKind::regular, TopologyKind::full}) {
    for (Seed seed = 0; seed < 20; ++seed) {
      const Topology topology({.kind = kind, .degree = 4}, 30, seed);
      const auto network = draw_round(topology, {.link_failure = 0.3, .active_clients = 25}, 2);
      const MixingMatrix mixing(network.graph);
      std::vector<double> column_sums(30, 0.0);
      for (ClientId a = 0; a < 30; ++a) {
        double row_sum = 0;
        for (ClientId b = 0; b < 30; ++b) {
          EXPECT_EQ(weight(mixing, a, b), weight(mixing, b, a));
          EXPECT_GE(weight(mixing, a, b), 0);
          row_sum += weight(mixing, a, b);
          column_sums[b] += weight(mixing, a, b);
        }
        EXPECT_NEAR(row_sum, 1, 1e-14);
        EXPECT_TRUE(network.active[a] || mixing.self_weight(a) == 1);
      }
      for (const double sum : column_sums) EXPECT_NEAR(sum, 1, 1e-14);
    }
  }
}

TEST(MixingMatrix, AppliesWhatItsWeightsSay) {
  const Topology topology({.degree = 4}, 12, 3);
  const MixingMatrix mixing(topology.draw(0));
  std::vector<double> values(12), result(12);
  for (std::size_t i = 0; i < 12; ++i) values[i] = std::sin(static_cast<double>(i));
  mixing.apply(values, result);
  for (ClientId a = 0; a < 12; ++a) {
    double expected = 0;
    for (ClientId b = 0; b < 12; ++b) expected += weight(mixing, a, b) * values[b];
    EXPECT_NEAR(result[a], expected, 1e-15);
  }
}

TEST(MixingFactor, IsZeroWhereOneExchangeMakesAllAgree) {
  EXPECT_EQ(mixing_factor(MixingMatrix(Graph(1, {}))), 0);
  EXPECT_EQ(mixing_factor(MixingMatrix(Graph(2, {{0, 1}}))), 0);
  for (const std::size_t clients : {5u, 50u, 300u}) {
    const MixingMatrix full(Topology({.kind = TopologyKind::full}, clients, 1).draw(0));
    EXPECT_NEAR(mixing_factor(full), 0, 1e-13) << clients;
    EXPECT_NEAR(mixing_factor_lanczos(full), 0, 1e-13) << clients;
  }
}

TEST(MixingFactor, IsOneExactlyWhenTheGraphFallsApart) {
  EXPECT_EQ(mixing_factor(MixingMatrix(Graph(4, {{0, 1}, {2, 3}}))), 1);
  EXPECT_EQ(mixing_factor(MixingMatrix(Graph(1000, {}))), 1);
  // Without the shortcut the solvers say so too.
  const MixingMatrix apart(Graph(4, {{0, 1}, {2, 3}}));
  EXPECT_NEAR(mixing_factor_dense(apart), 1, 1e-14);
  EXPECT_NEAR(mixing_factor_lanczos(apart), 1, 1e-14);
}

TEST(MixingFactor, OfARingFollowsItsFormulaUpToThousands) {
  // Weights 1/3: the eigenvalues are (1 + 2 cos(2πk/M)) / 3.
  for (const std::size_t clients : {5u, 50u, 201u, 1000u, 4000u}) {
    const MixingMatrix ring(Topology({.kind = TopologyKind::ring}, clients, 1).draw(0));
    const double expected = (1 + 2 * std::cos(2 * std::numbers::pi / static_cast<double>(clients))) / 3;
    EXPECT_NEAR(mixing_factor(ring), expected, 1e-12) << clients;
  }
}

TEST(MixingFactor, OfATorusFollowsItsFormula) {
  // 30 × 40, weights 1/5: the slowest wave runs along the longer side.
  const MixingMatrix torus(Topology({.kind = TopologyKind::torus}, 1200, 1).draw(0));
  EXPECT_NEAR(mixing_factor(torus), (3 + 2 * std::cos(2 * std::numbers::pi / 40)) / 5, 1e-12);
}

TEST(MixingFactor, IsTheSameByBothSolvers) {
  for (const auto kind : {TopologyKind::ring, TopologyKind::grid, TopologyKind::torus,
                          TopologyKind::exponential, TopologyKind::erdos_renyi, TopologyKind::regular}) {
    for (const std::size_t clients : {2u, 3u, 12u, 50u, 150u}) {
      for (Seed seed = 0; seed < 3; ++seed) {
        const Topology topology({.kind = kind, .degree = clients > 4 ? 4u : clients - 1}, clients, seed);
        const MixingMatrix mixing(draw_round(topology, {.link_failure = 0.1}, 0).graph);
        EXPECT_NEAR(mixing_factor_dense(mixing), mixing_factor_lanczos(mixing), 1e-12)
            << to_string(kind) << " " << clients << " " << seed;
      }
    }
  }
}

// Of W on the vectors that sum to zero, and of the constant ones, 0.
std::vector<double> all_eigenvalues(const MixingMatrix& mixing) {
  const auto clients = static_cast<Eigen::Index>(mixing.clients());
  Eigen::MatrixXd dense = Eigen::MatrixXd::Constant(clients, clients, -1.0 / static_cast<double>(clients));
  std::vector<double> unit(mixing.clients()), column(mixing.clients());
  for (std::size_t c = 0; c < unit.size(); ++c) {
    unit[c] = 1;
    mixing.apply(unit, column);
    unit[c] = 0;
    for (std::size_t r = 0; r < column.size(); ++r)
      dense(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) += column[r];
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(dense, Eigen::EigenvaluesOnly);
  return {solver.eigenvalues().begin(), solver.eigenvalues().end()};
}

TEST(MixingFactor, IsNeverTooLargeAndHasAnEigenvalueWithinItsErrorAfterAnyNumberOfSteps) {
  for (Seed seed = 0; seed < 5; ++seed) {
    for (const auto kind : {TopologyKind::regular, TopologyKind::torus}) {
      const Topology topology({.kind = kind, .degree = 4}, 150, seed);
      const MixingMatrix mixing(draw_round(topology, {.link_failure = 0.1}, 0).graph);
      const auto eigenvalues = all_eigenvalues(mixing);
      for (const std::size_t steps : {4u, 8u, 16u, 32u, 64u}) {
        const auto [factor, error] = mixing_after_steps(mixing, steps);
        double largest = 0, nearest = 2;
        for (const double eigenvalue : eigenvalues) {
          largest = std::max(largest, std::abs(eigenvalue));
          nearest = std::min(nearest, std::abs(std::abs(eigenvalue) - factor));
        }
        EXPECT_LE(factor, largest + 1e-12) << seed << ", " << steps << " steps";
        EXPECT_LE(nearest, error) << seed << ", " << steps << " steps";
        // A bound that says nothing would pass, too.
        EXPECT_LT(error, steps < 64 ? 1 : 1e-3) << seed << ", " << steps << " steps";
      }
    }
  }
}

TEST(MixingFactor, SaysHowGoodItIsInALargeNetwork) {
  const Topology topology({.degree = 5}, 3000, 7);
  const auto [factor, error] = estimate_mixing(MixingMatrix(draw_round(topology, {}, 0).graph));
  EXPECT_GE(error, 1e-12);
  EXPECT_LT(error, 1e-5);
  const auto apart = estimate_mixing(MixingMatrix(Graph(1000, {})));
  EXPECT_EQ(apart.factor, 1);
  EXPECT_EQ(apart.error, 0);
}

TEST(MixingFactor, BoundsHowDisagreementShrinks) {
  for (Seed seed = 0; seed < 10; ++seed) {
    const Topology topology({.degree = 3}, 40, seed);
    const MixingMatrix mixing(topology.draw(0));
    const double rho = mixing_factor(mixing);
    RandomStream random(seed, "values");
    std::vector<double> values(40), next(40);
    double mean = 0;
    for (double& value : values) mean += (value = random.normal()) / 40;
    for (double& value : values) value -= mean;
    const auto norm = [](const std::vector<double>& x) {
      double sum = 0;
      for (const double value : x) sum += value * value;
      return std::sqrt(sum);
    };
    for (int step = 0; step < 30; ++step) {
      mixing.apply(values, next);
      EXPECT_LE(norm(next), rho * norm(values) * (1 + 1e-12));
      std::swap(values, next);
    }
  }
}

}  // namespace
}  // namespace dfrost

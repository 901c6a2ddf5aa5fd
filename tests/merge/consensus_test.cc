#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "dfrost/measure.h"
#include "dfrost/merge.h"
#include "dfrost/wasserstein.h"
#include "support/numbers.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::Points;

struct Network {
  std::vector<Points> clients;
  std::vector<MatrixView<const float>> views() const {
    std::vector<MatrixView<const float>> result;
    for (const auto& client : clients) result.push_back(client.view());
    return result;
  }
};

// Clients that hold one shared set, each in an order of its own and moved by `noise`.
Network random_network(std::size_t clients, double noise, Seed seed) {
  RandomStream random(seed, "network");
  Network network;
  const auto shared = test::random_points(5, 12, random);
  for (std::size_t u = 0; u < clients; ++u) {
    Points set(5, 12);
    const auto order = random.permutation(5);
    for (std::size_t r = 0; r < 5; ++r) std::ranges::copy(shared.view().row(order[r]), set.row(r).begin());
    for (float& value : set.values) value += static_cast<float>(noise * random.normal());
    network.clients.push_back(set);
  }
  return network;
}

TEST(ConsensusError, IsTheMeanSquaredDistanceToTheBarycenterThatItReturns) {
  const auto network = random_network(20, 0.3, 1);
  const auto found = consensus_error(network.views());
  double total = 0;
  for (std::size_t u = 0; u < 20; ++u) {
    const MatrixView<const float> barycenter(found.barycenter.data(), 5, 12);
    const double distance = wasserstein2_squared({network.clients[u].view()}, {barycenter}).w2_squared;
    EXPECT_NEAR(found.squared_distances[u], distance, 1e-5);
    total += distance;
  }
  EXPECT_NEAR(found.total, total, 1e-4);
  EXPECT_DOUBLE_EQ(found.error, found.total / 20);
  EXPECT_TRUE(found.converged);
}

TEST(ConsensusError, IsZeroOnceAllClientsHoldTheSameSetInAnyOrder) {
  EXPECT_NEAR(consensus_error(random_network(30, 0, 2).views()).error, 0, 1e-13);
}

TEST(ConsensusError, IsNeverAboveWhatAveragingByIndexGives) {
  for (Seed seed = 0; seed < 10; ++seed) {
    const auto network = random_network(8, 0.5, seed);
    const auto views = network.views();
    Points average(5, 12);
    merge({.senders = views}, {.kind = MergeKind::average}, average.view());
    double by_index = 0;
    for (const auto& view : views) by_index += wasserstein2_squared({view}, {average.view()}).w2_squared / 8;
    EXPECT_LE(consensus_error(views).error, by_index + 1e-6);
  }
}

TEST(ConsensusError, IsTheSameAtEveryNumberOfThreads) {
  const auto network = random_network(700, 2.0, 3);  // so many that starts are compared on a part of them
  const auto one = consensus_error(network.views(), {.threads = 1});
  for (const std::size_t threads : {2, 7}) {
    const auto many = consensus_error(network.views(), {.threads = threads});
    EXPECT_EQ(one.error, many.error);
    EXPECT_EQ(one.barycenter, many.barycenter);
    EXPECT_EQ(one.squared_distances, many.squared_distances);
  }
}

// Around any set at all: around one of the clients, around their average, around noise.
TEST(ConsensusError, IsNowhereBelowItsFloor) {
  for (Seed seed = 0; seed < 10; ++seed) {
    const auto network = random_network(8 + seed % 2, 0.1 * static_cast<double>(1 + seed), seed);
    const auto views = network.views();
    const auto found = consensus_error(views);
    EXPECT_GT(found.floor, 0.2 * found.error);
    EXPECT_LE(found.floor, found.error);
    Points average(5, 12);
    merge({.senders = views}, {.kind = MergeKind::average}, average.view());
    RandomStream random(seed, "candidates");
    std::vector<Points> candidates = network.clients;
    candidates.push_back(average);
    for (int i = 0; i < 20; ++i) candidates.push_back(test::random_points(5, 12, random));
    for (const auto& candidate : candidates) {
      double error = 0;
      for (const auto& view : views)
        error +=
            wasserstein2_squared({view}, {candidate.view()}).w2_squared / static_cast<double>(views.size());
      EXPECT_GE(error, found.floor);
    }
  }
}

TEST(ConsensusError, FallsByItsGainOrMoreWithAnotherStep) {
  const auto network = random_network(60, 2.0, 8);
  for (const std::size_t passes : {1, 2, 3}) {
    const auto some = consensus_error(network.views(), {.starts = 1, .max_passes = passes});
    const auto more = consensus_error(network.views(), {.starts = 1, .max_passes = passes + 1});
    EXPECT_GT(some.gain, 0);
    EXPECT_GE(some.error - more.error, some.gain * (1 - 1e-9));
  }
}

TEST(ConsensusError, TakesClientsOfDifferentSizes) {
  auto network = random_network(6, 0.1, 4);
  network.clients[2] = Points(3, 12, std::vector<float>(36, 0.5f));
  const auto found = consensus_error(network.views(), {.prompts = 4});
  EXPECT_EQ(found.prompts, 4u);
  EXPECT_GT(found.error, 0);
}

TEST(ConsensusError, SaysWhichClientIsBad) {
  auto network = random_network(100, 0.1, 5);
  network.clients[77].values[3] = std::numeric_limits<float>::infinity();
  test::expect_error(ErrorCode::invalid_argument, "client 77",
                     [&] { consensus_error(network.views(), {.threads = 3}); });
  test::expect_error(ErrorCode::invalid_argument, "no clients", [] { consensus_error({}); });
}

TEST(MergeError, IsTheExactDistanceBetweenAllRowsAndTheirSummary) {
  const auto network = random_network(4, 0.2, 6);
  const auto views = network.views();
  Points all(20, 12);
  for (std::size_t r = 0; r < 20; ++r) std::ranges::copy(views[r / 5].row(r % 5), all.row(r).begin());
  Points merged(5, 12);
  merge({.senders = views}, {}, merged.view());
  EXPECT_NEAR(merge_error(views, {}, merged.view()),
              wasserstein2_squared({all.view()}, {merged.view()}).w2_squared, 1e-12);
  EXPECT_NEAR(merge_error(views, {}, all.view()), 0, 1e-12);
  const std::vector<double> first_only = {1, 0, 0, 0};
  EXPECT_NEAR(merge_error(views, first_only, network.clients[0].view()), 0, 1e-12);
}

}  // namespace
}  // namespace dfrost

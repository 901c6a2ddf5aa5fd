#include "network/mailbox_depth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace dfrost {
namespace {

constexpr Seed kSeed = 3;

// Client `slow` has sent its messages of round `start` and stays there, while all others run as far as they
// can without those it does not send. The most rounds that a message which reaches it meanwhile is ahead.
std::uint64_t lead_over(ClientId slow, std::size_t start, std::span<const RoundNetwork> rounds) {
  std::vector<bool> stopped(rounds.front().active.size(), false);  // has not come as far as this round
  stopped[slow] = true;
  std::uint64_t lead = 0;
  for (std::size_t round = start + 1; round < rounds.size(); ++round) {
    const Graph& graph = rounds[round].graph;
    for (const ClientId peer : graph.neighbours(slow)) {
      if (!stopped[peer]) lead = round - start;
    }
    auto stopped_next = stopped;
    for (const Edge& link : graph.edges()) {
      if (stopped[link.first] || stopped[link.second])
        stopped_next[link.first] = stopped_next[link.second] = true;
    }
    stopped = std::move(stopped_next);
    if (std::find(stopped.begin(), stopped.end(), false) == stopped.end()) break;
  }
  return lead;
}

// Whoever is the slow one, in whichever of so many rounds.
std::uint64_t largest_lead(const Topology& topology, const FaultOptions& faults, std::size_t starts) {
  std::vector<RoundNetwork> rounds;
  for (std::uint64_t round = 1; round <= 2 * starts; ++round)
    rounds.push_back(draw_round(topology, faults, round));
  std::uint64_t lead = 0;
  for (std::size_t start = 0; start < starts; ++start) {
    for (ClientId slow = 0; slow < topology.clients(); ++slow)
      lead = std::max(lead, lead_over(slow, start, rounds));
  }
  return lead;
}

TEST(RoundsAhead, IsOneOnAGraphThatStaysTheSame) {
  const Topology ring({.kind = TopologyKind::ring, .is_static = true}, 20, kSeed);
  EXPECT_EQ(rounds_ahead(ring, {}), 1u);
  EXPECT_EQ(largest_lead(ring, {}, 20), 1u);
  EXPECT_EQ(rounds_ahead(Topology({.kind = TopologyKind::full}, 20, kSeed), {}), 1u);
  EXPECT_EQ(rounds_ahead(Topology({}, 1, kSeed), {}), 1u);
}

TEST(RoundsAhead, GrowsWithTheLogarithmOfTheClientsOnARedrawnGraph) {
  const std::size_t degree = TopologyOptions{}.degree;
  for (const std::size_t clients : {20u, 100u, 1000u, 10'000u}) {
    const auto rounds = static_cast<double>(rounds_ahead(Topology({}, clients, kSeed), {}));
    const double all_reached = std::ceil(std::log(clients) / std::log(degree + 1));
    EXPECT_GE(rounds, all_reached + 1) << clients;
    EXPECT_LE(rounds, all_reached + 2) << clients;
  }
}

TEST(RoundsAhead, GrowsWhereLinksFailOrClientsAreAbsentButNotAboveTheClients) {
  for (const bool is_static : {false, true}) {
    const Topology topology({.is_static = is_static}, 100, kSeed);
    const auto sound = rounds_ahead(topology, {});
    const auto failing = rounds_ahead(topology, {.link_failure = 0.3});
    EXPECT_GT(failing, sound);
    EXPECT_GT(rounds_ahead(topology, {.link_failure = 0.6}), failing);
    EXPECT_GT(rounds_ahead(topology, {.active_clients = 50}), sound);
    EXPECT_EQ(rounds_ahead(topology, {.active_clients = 2}), 100u);
    EXPECT_EQ(rounds_ahead(topology, {.link_failure = 1}), 100u);
  }
}

TEST(RoundsAhead, IsNeverOutrunOnTheDefaultGraphNorWiderThanNeeded) {
  for (const std::size_t clients : {20u, 100u}) {
    const Topology topology({}, clients, kSeed);
    const auto lead = largest_lead(topology, {}, 50);
    EXPECT_LE(lead, rounds_ahead(topology, {})) << clients;
    EXPECT_GE(lead + 1, rounds_ahead(topology, {})) << clients;
  }
}

TEST(RoundsAhead, IsNotOutrunWhereLinksFailNorWherePlacesArePermuted) {
  const FaultOptions failing{.link_failure = 0.3};
  const Topology regular({}, 36, kSeed);
  EXPECT_LE(largest_lead(regular, failing, 50), rounds_ahead(regular, failing));
  const Topology ring({.kind = TopologyKind::ring}, 36, kSeed);
  EXPECT_LE(largest_lead(ring, {}, 50), rounds_ahead(ring, {}));
  const Topology fixed({.kind = TopologyKind::ring, .is_static = true}, 20, kSeed);
  EXPECT_LE(largest_lead(fixed, failing, 50), rounds_ahead(fixed, failing));
}

}  // namespace
}  // namespace dfrost

#include "network/faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/support.h"

namespace dfrost {
namespace {

TEST(Faults, LeaveTheGraphAloneWhenThereAreNone) {
  const Topology topology({.degree = 4}, 30, 1);
  const auto network = draw_round(topology, {}, 3);
  EXPECT_EQ(network.graph, topology.draw(3));
  EXPECT_EQ(network.absent_clients(), 0u);
  EXPECT_TRUE(network.failed.empty() && network.unused.empty());
  EXPECT_EQ(draw_round(topology, {.active_clients = 30}, 3).graph, topology.draw(3));
}

TEST(Faults, AccountForEveryPlannedLinkOnce) {
  const Topology topology({.degree = 6}, 40, 1);
  for (std::uint64_t round = 0; round < 50; ++round) {
    const FaultOptions faults{.link_failure = 0.3, .active_clients = 30, .active_graph = ActiveGraph::all};
    const auto network = draw_round(topology, faults, round);
    EXPECT_EQ(network.planned_links(), 120u);
    std::vector<Edge> all = network.graph.edges();
    for (const auto* lost : {&network.failed, &network.unused})
      all.insert(all.end(), lost->begin(), lost->end());
    EXPECT_EQ(Graph(40, all), topology.draw(round));
    EXPECT_EQ(network.absent_clients(), 10u);
    for (ClientId client = 0; client < 40; ++client) {
      EXPECT_TRUE(network.active[client] || network.graph.degree(client) == 0);
    }
    for (const Edge& link : network.failed) {
      EXPECT_TRUE(network.active[link.first] && network.active[link.second]);
    }
  }
}

TEST(Faults, StrikeLinksAsOftenAsTold) {
  const Topology topology({.kind = TopologyKind::full}, 30, 1);
  for (const double p : {0.05, 0.4}) {
    double failed = 0;
    for (std::uint64_t round = 0; round < 100; ++round) {
      failed += static_cast<double>(draw_round(topology, {.link_failure = p}, round).failed.size());
    }
    EXPECT_NEAR(failed / 43'500, p, 4 * std::sqrt(p * (1 - p) / 43'500));
  }
  EXPECT_TRUE(draw_round(topology, {.link_failure = 1}, 0).graph.edges().empty());
}

TEST(Faults, ChooseEveryClientEquallyOften) {
  const Topology topology({.kind = TopologyKind::ring}, 20, 1);
  std::vector<int> times(20, 0);
  for (std::uint64_t round = 0; round < 4000; ++round) {
    const auto active = draw_round(topology, {.active_clients = 5}, round).active;
    EXPECT_EQ(std::count(active.begin(), active.end(), true), 5);
    for (std::size_t client = 0; client < 20; ++client) times[client] += active[client] ? 1 : 0;
  }
  for (const int count : times) EXPECT_NEAR(count, 1000, 5 * std::sqrt(4000 * 0.25 * 0.75));
}

TEST(Faults, AreFixedBySeedAndRoundAndDifferOtherwise) {
  const FaultOptions options{.link_failure = 0.3, .active_clients = 15};
  const Graph planned = Topology({.kind = TopologyKind::full}, 20, 1).draw(0);
  EXPECT_EQ(apply_faults(planned, options, 1, 4).graph, apply_faults(planned, options, 1, 4).graph);
  EXPECT_NE(apply_faults(planned, options, 1, 4).graph, apply_faults(planned, options, 1, 5).graph);
  EXPECT_NE(apply_faults(planned, options, 1, 4).graph, apply_faults(planned, options, 2, 4).graph);
}

TEST(Faults, OfALinkDoNotDependOnTheOtherLinks) {
  const Graph full = Topology({.kind = TopologyKind::full}, 20, 1).draw(0);
  const auto of_full = apply_faults(full, {.link_failure = 0.5}, 1, 4);
  for (const Edge& link : full.edges()) {
    const auto alone = apply_faults(Graph(20, {link}), {.link_failure = 0.5}, 1, 4);
    EXPECT_EQ(alone.failed.empty(), of_full.graph.linked(link.first, link.second));
  }
}

TEST(Faults, GrowWithTheirOptionsAndNeverMove) {
  const Graph planned = Topology({.kind = TopologyKind::full}, 20, 1).draw(0);
  const auto few = apply_faults(planned, {.link_failure = 0.2}, 1, 4).failed;
  const auto many = apply_faults(planned, {.link_failure = 0.5}, 1, 4).failed;
  EXPECT_TRUE(std::includes(many.begin(), many.end(), few.begin(), few.end()));
  EXPECT_LT(few.size(), many.size());
  const auto five = apply_faults(planned, {.active_clients = 5}, 1, 4).active;
  const auto ten = apply_faults(planned, {.active_clients = 10}, 1, 4).active;
  for (std::size_t client = 0; client < 20; ++client) EXPECT_TRUE(!five[client] || ten[client]);
}

// All links of a round lie between active clients.
void expect_no_link_of_absent(const RoundNetwork& network) {
  EXPECT_TRUE(network.unused.empty());
  for (const Edge& link : network.graph.edges()) {
    EXPECT_TRUE(network.active[link.first] && network.active[link.second]);
  }
}

TEST(Participation, LeavesActiveClientsTheirDegreeOrTheLargestThereIs) {
  struct Expected {
    std::size_t degree, active, found;
  };
  // 25 · 5 is odd, four active clients have three others, three cannot pair off, one is alone.
  for (const auto& [degree, active, found] :
       {Expected{5, 10, 5}, {5, 25, 4}, {5, 4, 3}, {1, 3, 2}, {5, 1, 0}, {5, 50, 5}}) {
    const Topology topology({.degree = degree}, 50, 1);
    for (std::uint64_t round = 0; round < 20; ++round) {
      const auto network = draw_round(topology, {.active_clients = active}, round);
      expect_no_link_of_absent(network);
      const auto degrees = degree_range(network.graph_of_active());
      EXPECT_EQ(degrees.min, found);
      EXPECT_EQ(degrees.max, found);
    }
  }
}

TEST(Participation, MakesEveryTopologyAmongTheActiveClients) {
  for (const auto kind : kTopologyKinds) {
    if (kind == TopologyKind::file) continue;
    const Topology topology({.kind = kind, .degree = 4}, 40, 1);
    const auto network = draw_round(topology, {.active_clients = 12}, 7);
    expect_no_link_of_absent(network);
    const Graph among = network.graph_of_active();
    EXPECT_EQ(among.clients(), 12u);
    EXPECT_EQ(among.edges().size(), network.graph.edges().size());
    if (kind == TopologyKind::erdos_renyi) continue;
    EXPECT_TRUE(is_connected(among)) << to_string(kind);
    // As many links as a federation of twelve has.
    EXPECT_EQ(among.edges().size(), Topology(topology.options(), 12, 1).draw(7).edges().size());
  }
}

TEST(Participation, TakesLinksFromAGraphThatIsGiven) {
  const Topology topology({.kind = TopologyKind::ring, .is_static = true}, 20, 1);
  const auto network = draw_round(topology, {.active_clients = 10}, 3);
  expect_no_link_of_absent(network);
  const Graph whole = topology.draw(3);
  for (const Edge& link : whole.edges()) {
    EXPECT_EQ(network.graph.linked(link.first, link.second),
              network.active[link.first] && network.active[link.second]);
  }
}

TEST(Participation, IsDrawnAmongThoseThatAreInTheFederation) {
  const Topology topology({.degree = 4}, 20, 1);
  std::vector<bool> present(20, true);
  EXPECT_EQ(draw_round(topology, {.active_clients = 7}, 3, present).active,
            draw_round(topology, {.active_clients = 7}, 3).active);
  for (const ClientId gone : {2, 3, 11}) present[gone] = false;
  const auto all = draw_round(topology, {}, 3, present);
  EXPECT_EQ(all.active, present);
  EXPECT_EQ(all.graph.edges().size(), 17u * 4 / 2);  // who is left still has four neighbours
  for (const auto graph : {ActiveGraph::active, ActiveGraph::all}) {
    const auto some = draw_round(topology, {.active_clients = 7, .active_graph = graph}, 3, present);
    EXPECT_EQ(some.absent_clients(), 13u);
    for (const ClientId gone : {2, 3, 11}) EXPECT_FALSE(some.active[gone]);
    for (const Edge& link : some.graph.edges())
      EXPECT_TRUE(some.active[link.first] && some.active[link.second]);
    for (const Edge& link : some.unused) EXPECT_TRUE(present[link.first] && present[link.second]);
  }
}

TEST(LateClients, AreAbsentUntilTheyJoinAndThenLikeAllOthers) {
  for (Seed seed = 1; seed <= 20; ++seed) {
    const Topology topology({.degree = 4}, 20, seed);
    const FaultOptions faults{.late_clients = 6, .join_round = 3};
    const auto late = late_clients(faults, 20, seed);
    EXPECT_EQ(std::count(late.begin(), late.end(), true), 6);
    for (const std::uint64_t round : {1, 2}) {
      const auto network = draw_round(topology, faults, round);
      for (std::size_t client = 0; client < 20; ++client) EXPECT_NE(network.active[client], late[client]);
      EXPECT_EQ(network.graph.edges().size(), 14u * 4 / 2);  // who is there has four neighbours
    }
    EXPECT_EQ(draw_round(topology, faults, 3).graph, topology.draw(3));
    const auto fewer = late_clients({.late_clients = 2}, 20, seed);
    for (std::size_t client = 0; client < 20; ++client) EXPECT_LE(fewer[client], late[client]);
  }
}

TEST(LateClients, AreNotAmongTheActiveOnesBeforeTheyJoin) {
  const Topology topology({.degree = 2}, 12, 1);
  for (const auto graph : {ActiveGraph::active, ActiveGraph::all}) {
    const FaultOptions faults{.active_clients = 5, .active_graph = graph, .late_clients = 4, .join_round = 9};
    const auto late = late_clients(faults, 12, 1);
    for (std::uint64_t round = 1; round < 9; ++round) {
      const auto network = draw_round(topology, faults, round);
      EXPECT_EQ(network.absent_clients(), 7u);
      for (std::size_t client = 0; client < 12; ++client)
        EXPECT_FALSE(network.active[client] && late[client]);
      for (const Edge& link : network.unused) EXPECT_FALSE(late[link.first] || late[link.second]);
    }
  }
}

TEST(TwoFederations, HaveNoLinkBetweenThemUntilTheyMeet) {
  for (const auto kind : {TopologyKind::ring, TopologyKind::regular, TopologyKind::full}) {
    const Topology topology({.kind = kind, .degree = 4}, 20, 1);
    const FaultOptions faults{.meet_round = 4};
    for (std::uint64_t round = 1; round < 4; ++round) {
      const auto network = draw_round(topology, faults, round);
      EXPECT_EQ(network.absent_clients(), 0u);
      for (const Edge& link : network.graph.edges()) EXPECT_EQ(link.first % 2, link.second % 2);
      for (ClientId client = 0; client < 20; ++client) {
        const std::size_t expected = kind == TopologyKind::ring ? 2 : kind == TopologyKind::regular ? 4 : 9;
        EXPECT_EQ(network.graph.degree(client), expected);
      }
    }
    EXPECT_EQ(draw_round(topology, faults, 4).graph, topology.draw(4));
  }
}

TEST(Faults, AreRefusedWhenTheyCannotBe) {
  const auto expect = [](FaultOptions options, const std::string& text) {
    test::expect_error(ErrorCode::invalid_argument, text, [&] { options.validate(10); });
  };
  expect({.link_failure = -0.1}, "not a probability");
  expect({.link_failure = 1.5}, "not a probability");
  expect({.late_clients = 10}, "10 late clients of 10");
  expect({.link_failure = std::nan("")}, "not a probability");
  expect({.active_clients = 11}, "11 active clients of 10");
}

}  // namespace
}  // namespace dfrost

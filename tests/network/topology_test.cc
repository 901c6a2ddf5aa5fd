#include "network/topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/file.h"
#include "support/support.h"

namespace dfrost {
namespace {

Topology make(TopologyKind kind, std::size_t clients, std::size_t degree = 4, Seed seed = 1) {
  return Topology({.kind = kind, .degree = degree}, clients, seed);
}

constexpr std::array kDrawnKinds = {TopologyKind::ring,        TopologyKind::grid,
                                    TopologyKind::torus,       TopologyKind::exponential,
                                    TopologyKind::erdos_renyi, TopologyKind::regular};

TEST(Graph, KeepsSortedNeighboursFromEdgesInAnyOrder) {
  const Graph graph(5, {{2, 4}, {0, 2}, {1, 2}, {0, 2}, {2, 3}});
  EXPECT_EQ(graph.edges(), (std::vector<Edge>{{0, 2}, {1, 2}, {2, 3}, {2, 4}}));
  const auto neighbours = graph.neighbours(2);
  EXPECT_EQ(std::vector<ClientId>(neighbours.begin(), neighbours.end()), (std::vector<ClientId>{0, 1, 3, 4}));
  EXPECT_EQ(graph.degree(0), 1u);
  EXPECT_TRUE(graph.linked(4, 2));
  EXPECT_FALSE(graph.linked(4, 3));
}

TEST(Graph, CountsItsParts) {
  EXPECT_EQ(count_components(Graph(1, {})), 1u);
  EXPECT_EQ(count_components(Graph(4, {})), 4u);
  EXPECT_EQ(count_components(Graph(5, {{0, 3}, {1, 4}})), 3u);
  EXPECT_TRUE(is_connected(Graph(3, {{0, 2}, {1, 2}})));
  EXPECT_FALSE(is_connected(Graph(3, {{0, 2}})));
}

TEST(Topology, IsFixedBySeedAndRound) {
  for (const auto kind : kDrawnKinds) {
    const auto one = make(kind, 50);
    const auto other = make(kind, 50);
    for (std::uint64_t round = 0; round < 5; ++round) EXPECT_EQ(one.draw(round), other.draw(round));
    // Drawn out of turn it is the same as in turn.
    EXPECT_EQ(one.draw(3), other.draw(3));
  }
}

TEST(Topology, DiffersBetweenRoundsAndBetweenSeeds) {
  for (const auto kind : kDrawnKinds) {
    const auto topology = make(kind, 50);
    for (std::uint64_t round = 1; round < 10; ++round) {
      EXPECT_NE(topology.draw(0), topology.draw(round)) << to_string(kind);
    }
    EXPECT_NE(topology.draw(0), make(kind, 50, 4, 2).draw(0)) << to_string(kind);
  }
}

TEST(Topology, StaysTheSameWhenStatic) {
  for (const auto kind : kDrawnKinds) {
    const Topology topology({.kind = kind, .degree = 4, .is_static = true}, 50, 7);
    for (std::uint64_t round = 1; round < 5; ++round) EXPECT_EQ(topology.draw(0), topology.draw(round));
    EXPECT_NE(topology.draw(0), Topology({.kind = kind, .degree = 4, .is_static = true}, 50, 8).draw(0));
  }
}

TEST(Topology, DrawsTheSameGraphOnEveryMachine) {
  // Recorded once: peers of one federation may run on different machines.
  EXPECT_EQ(make(TopologyKind::ring, 5).draw(2).edges(),
            (std::vector<Edge>{{0, 2}, {0, 3}, {1, 3}, {1, 4}, {2, 4}}));
  EXPECT_EQ(make(TopologyKind::regular, 6, 2).draw(2).edges(),
            (std::vector<Edge>{{0, 1}, {0, 4}, {1, 2}, {2, 3}, {3, 5}, {4, 5}}));
  EXPECT_EQ(make(TopologyKind::erdos_renyi, 5, 2).draw(2).edges(),
            (std::vector<Edge>{{0, 2}, {1, 2}, {1, 3}, {1, 4}, {2, 3}}));
}

TEST(Topology, RingIsOneCycle) {
  for (const std::size_t clients : {3u, 4u, 50u, 51u}) {
    for (Seed seed = 0; seed < 20; ++seed) {
      const auto graph = make(TopologyKind::ring, clients, 0, seed).draw(1);
      EXPECT_EQ(degree_range(graph).min, 2u);
      EXPECT_EQ(degree_range(graph).max, 2u);
      EXPECT_TRUE(is_connected(graph));
    }
  }
}

TEST(Topology, GridHasTheSidesOfThePaper) {
  const auto sides = [](std::size_t clients) {
    const auto place = make(TopologyKind::grid, clients).placement(0);
    return std::pair(place.rows, place.columns);
  };
  EXPECT_EQ(sides(50), std::pair(std::size_t{5}, std::size_t{10}));
  EXPECT_EQ(sides(40), std::pair(std::size_t{5}, std::size_t{8}));
  EXPECT_EQ(sides(49), std::pair(std::size_t{7}, std::size_t{7}));
  EXPECT_EQ(sides(13), std::pair(std::size_t{1}, std::size_t{13}));
  const auto graph = make(TopologyKind::grid, 50).draw(0);
  EXPECT_EQ(graph.edges().size(), 5u * 9 + 4 * 10);
  EXPECT_TRUE(is_connected(graph));
  std::array<int, 5> clients_with{};
  for (ClientId client = 0; client < 50; ++client) ++clients_with[graph.degree(client)];
  EXPECT_EQ(clients_with, (std::array<int, 5>{0, 0, 4, 2 * (3 + 8), 3 * 8}));
}

TEST(Topology, GridLinksExactlyTheCellsThatTouch) {
  const auto topology = make(TopologyKind::grid, 24);
  const auto place = topology.placement(5);
  const auto graph = topology.draw(5);
  for (std::size_t a = 0; a < 24; ++a) {
    for (std::size_t b = 0; b < 24; ++b) {
      const auto between = [](std::size_t x, std::size_t y) { return x < y ? y - x : x - y; };
      const auto distance =
          between(a / place.columns, b / place.columns) + between(a % place.columns, b % place.columns);
      EXPECT_EQ(graph.linked(place.client_at[a], place.client_at[b]), distance == 1);
    }
  }
}

TEST(Topology, TorusHasFourNeighboursEverywhereOnceItsSidesAreThree) {
  for (const std::size_t clients : {9u, 12u, 50u, 1000u}) {
    const auto graph = make(TopologyKind::torus, clients).draw(0);
    EXPECT_EQ(degree_range(graph).min, 4u);
    EXPECT_EQ(degree_range(graph).max, 4u);
    EXPECT_TRUE(is_connected(graph));
  }
  EXPECT_EQ(degree_range(make(TopologyKind::torus, 8).draw(0)).max, 3u);  // 2 × 4: up and down are one link
  EXPECT_EQ(degree_range(make(TopologyKind::torus, 7).draw(0)).max, 2u);  // 1 × 7: a ring
}

TEST(Topology, ExponentialLinksPlacesThatAreAPowerOfTwoApart) {
  const auto topology = make(TopologyKind::exponential, 20);
  const auto at = topology.placement(3).client_at;
  const auto graph = topology.draw(3);
  for (std::size_t a = 0; a < 20; ++a) {
    for (std::size_t b = 0; b < 20; ++b) {
      const std::size_t ahead = (b + 20 - a) % 20;
      const auto is_power = [](std::size_t x) { return x == 1 || x == 2 || x == 4 || x == 8 || x == 16; };
      EXPECT_EQ(graph.linked(at[a], at[b]), is_power(ahead) || is_power(20 - ahead));
    }
  }
}

TEST(Topology, FullLinksEveryPair) {
  const auto graph = make(TopologyKind::full, 30).draw(4);
  EXPECT_EQ(graph.edges().size(), 30u * 29 / 2);
  EXPECT_EQ(degree_range(graph).min, 29u);
}

TEST(Topology, WorksForOneClientAndForTwo) {
  for (const auto kind : kDrawnKinds) {
    EXPECT_EQ(make(kind, 1, 5).draw(0), Graph(1, {})) << to_string(kind);
    EXPECT_EQ(make(kind, 2, 1).draw(0), Graph(2, {{0, 1}})) << to_string(kind);
  }
  EXPECT_EQ(make(TopologyKind::full, 1).draw(0), Graph(1, {}));
  EXPECT_EQ(make(TopologyKind::full, 2).draw(0), Graph(2, {{0, 1}}));
}

TEST(Topology, PlacesEveryClientOnce) {
  for (const auto kind : kDrawnKinds) {
    auto at = make(kind, 30).placement(2).client_at;
    std::sort(at.begin(), at.end());
    std::vector<ClientId> all(30);
    std::iota(all.begin(), all.end(), ClientId{0});
    EXPECT_EQ(at, all);
  }
}

TEST(Topology, TakesItsLinksFromAFile) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "links.txt", "0 1\n1 2\n");
  const Topology topology({.kind = TopologyKind::file, .file = folder / "links.txt"}, 4, 1);
  EXPECT_EQ(topology.draw(0), Graph(4, {{0, 1}, {1, 2}}));
  EXPECT_EQ(topology.draw(9), topology.draw(0));
}

TEST(Topology, RefusesGraphsThatDoNotExist) {
  const auto expect = [](TopologyOptions options, std::size_t clients, const std::string& text) {
    test::expect_error(ErrorCode::invalid_argument, text, [&] { Topology(options, clients, 1); });
  };
  expect({.degree = 3}, 5, "5·3 ends of links is odd");
  expect({.degree = 5}, 5, "each has only 4 others");
  expect({.degree = 7}, 5, "at most 4");
  expect({.kind = TopologyKind::erdos_renyi, .degree = 5}, 5, "each has only 4 others");
  expect({.degree = 0}, 5, "degree 0");
  expect({}, 0, "0 clients");
  expect({.kind = TopologyKind::file}, 5, "without a file");
  test::expect_error(ErrorCode::not_found, "absent.txt",
                     [] { Topology({.kind = TopologyKind::file, .file = "absent.txt"}, 5, 1); });
}

TEST(Topology, KnowsItsKindsByName) {
  for (const auto kind : kTopologyKinds) EXPECT_EQ(parse_topology_kind(to_string(kind)), kind);
  test::expect_error(ErrorCode::invalid_argument, "did you mean 'regular'?",
                     [] { parse_topology_kind("reguler"); });
  test::expect_error(ErrorCode::invalid_argument, "ring, grid, torus",
                     [] { parse_topology_kind("hypercube"); });
}

}  // namespace
}  // namespace dfrost

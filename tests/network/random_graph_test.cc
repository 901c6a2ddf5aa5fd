#include "network/random_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace dfrost {
namespace {

void expect_regular(std::size_t clients, std::size_t degree, Seed seed) {
  RandomStream random(seed, "test");
  const auto edges = random_regular_edges(clients, degree, random);
  ASSERT_EQ(edges.size(), clients * degree / 2);
  const std::set<Edge> distinct(edges.begin(), edges.end());
  ASSERT_EQ(distinct.size(), edges.size()) << "a link is there twice";
  std::vector<std::size_t> degrees(clients, 0);
  for (const auto& [first, second] : edges) {
    ASSERT_LT(first, second);
    ASSERT_LT(second, clients);
    ++degrees[first];
    ++degrees[second];
  }
  for (const auto d : degrees) ASSERT_EQ(d, degree);
}

TEST(RandomRegular, IsSimpleAndRegularForEveryDegreeOfSmallNetworks) {
  for (std::size_t clients = 2; clients <= 12; ++clients) {
    for (std::size_t degree = 0; degree < clients; ++degree) {
      if (clients * degree % 2 == 1) continue;
      for (Seed seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(testing::Message() << clients << " clients, degree " << degree << ", seed " << seed);
        expect_regular(clients, degree, seed);
      }
    }
  }
}

TEST(RandomRegular, IsSimpleAndRegularForLargeNetworksAndDegrees) {
  for (const auto& [clients, degree] :
       {std::pair{50u, 5u}, {50u, 24u}, {50u, 25u}, {50u, 47u}, {300u, 149u}, {301u, 150u}, {5000u, 5u}}) {
    for (Seed seed = 0; seed < 5; ++seed) expect_regular(clients, degree, seed);
  }
}

TEST(RandomRegular, GivesEveryGraphTheSameChance) {
  // 70 labelled graphs of 6 clients have degree 2: 60 hexagons and 10 pairs of triangles. Nowhere would a
  // bias of the repair show more than in graphs as small as these.
  constexpr int kDraws = 35'000;
  std::map<std::vector<Edge>, int> counts;
  RandomStream random(3, "test");
  for (int i = 0; i < kDraws; ++i) ++counts[Graph(6, random_regular_edges(6, 2, random)).edges()];
  EXPECT_EQ(counts.size(), 70u);
  double chi_square = 0;
  for (const auto& [edges, count] : counts) chi_square += std::pow(count - 500.0, 2) / 500.0;
  EXPECT_LT(chi_square, 111.1);  // 99.9 % of chi-square with 69 degrees of freedom
}

TEST(RandomRegular, LinksEveryPairEquallyOften) {
  constexpr int kDraws = 4000;
  std::map<Edge, int> counts;
  RandomStream random(4, "test");
  for (int i = 0; i < kDraws; ++i) {
    for (const Edge& edge : random_regular_edges(20, 5, random)) ++counts[edge];
  }
  // Every pair has probability 5/19, with a spread near that of a binomial; 190 pairs, so five sigma.
  const double expected = kDraws * 5.0 / 19.0;
  const double sigma = std::sqrt(expected * 14.0 / 19.0);
  EXPECT_EQ(counts.size(), 190u);
  for (const auto& [edge, count] : counts) EXPECT_NEAR(count, expected, 5 * sigma);
}

TEST(ErdosRenyi, HasTheNumberOfLinksOfItsDistribution) {
  for (const auto& [clients, degree] : {std::pair{50u, 5u}, {20u, 10u}, {500u, 4u}}) {
    constexpr int kDraws = 400;
    const double pairs = clients * (clients - 1) / 2.0;
    const double p = static_cast<double>(degree) / (clients - 1);
    double sum = 0, squares = 0;
    for (Seed seed = 0; seed < kDraws; ++seed) {
      RandomStream random(seed, "test");
      const auto links = static_cast<double>(erdos_renyi_edges(clients, degree, random).size());
      sum += links - pairs * p;
      squares += std::pow(links - pairs * p, 2);
    }
    const double variance = pairs * p * (1 - p);
    EXPECT_NEAR(sum / kDraws, 0, 4 * std::sqrt(variance / kDraws));
    EXPECT_NEAR(squares / kDraws / variance, 1, 4 * std::sqrt(2.0 / kDraws));
  }
}

TEST(ErdosRenyi, DrawsPairsIndependently) {
  // All 64 graphs of 4 clients at p = 1/3 (degree 1): a graph of k links has probability 2^(6−k) / 3^6.
  constexpr int kDraws = 72'900;
  std::map<std::vector<Edge>, int> counts;
  RandomStream random(5, "test");
  for (int i = 0; i < kDraws; ++i) ++counts[erdos_renyi_edges(4, 1, random)];
  EXPECT_EQ(counts.size(), 64u);
  double chi = 0;
  for (const auto& [edges, count] : counts) {
    const double expected = kDraws * std::pow(2.0, 6.0 - static_cast<double>(edges.size())) / 729.0;
    chi += std::pow(count - expected, 2) / expected;
  }
  EXPECT_LT(chi, 103.5);  // 99.9 % of chi-square with 63 degrees of freedom
}

TEST(ErdosRenyi, IsFullAtTheHighestDegree) {
  RandomStream random(1, "test");
  EXPECT_EQ(erdos_renyi_edges(9, 8, random).size(), 36u);
}

}  // namespace
}  // namespace dfrost

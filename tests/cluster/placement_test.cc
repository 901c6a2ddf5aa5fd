#include "cluster/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "cluster/places.h"

namespace dfrost {
namespace {

std::vector<std::uint64_t> loads_of(std::span<const std::uint64_t> work, std::span<const std::size_t> homes,
                                    std::size_t ranks) {
  std::vector<std::uint64_t> loads(ranks, 0);
  for (std::size_t node = 0; node < work.size(); ++node) loads[homes[node]] += work[node];
  return loads;
}

TEST(Placement, GivesNoRankMoreThanTheMeanAndOneNodesWork) {
  for (Seed seed = 1; seed <= 50; ++seed) {
    RandomStream random(seed, "work");
    std::vector<std::uint64_t> work(1 + random.below(40));
    for (auto& own : work) own = random.below(500);
    const std::size_t ranks = 1 + random.below(6);
    const auto homes = place_nodes(work, std::vector<std::size_t>(ranks, 2));
    const auto loads = loads_of(work, homes, ranks);
    const auto sum = std::accumulate(work.begin(), work.end(), std::uint64_t{0});
    EXPECT_LE(*std::ranges::max_element(loads), sum / ranks + *std::ranges::max_element(work) + 1) << seed;
  }
}

TEST(Placement, GivesARankWithTwiceTheThreadsTwiceTheWork) {
  const std::vector<std::uint64_t> work(30, 10);
  const auto homes = place_nodes(work, std::vector<std::size_t>{2, 1});
  EXPECT_EQ(loads_of(work, homes, 2), (std::vector<std::uint64_t>{200, 100}));
}

TEST(Placement, SpreadsNodesWithoutWorkByTheirNumber) {
  const auto homes = place_nodes(std::vector<std::uint64_t>(6, 0), std::vector<std::size_t>{1, 1, 1});
  for (std::size_t rank = 0; rank < 3; ++rank) EXPECT_EQ(std::ranges::count(homes, rank), 2);
}

RankPlace place(std::string host, std::vector<std::size_t> cores) {
  return {std::move(host), 1, std::move(cores), "cpu"};
}

TEST(RankPlaces, ShareCoresThatSeveralMayUseAndKeepThoseOfTheirOwn) {
  const std::vector<RankPlace> places = {place("a", {0, 1, 2, 3}), place("a", {0, 1, 2, 3}),
                                         place("b", {0, 1}), place("b", {2})};
  EXPECT_EQ(threads_of_ranks(places, 0), (std::vector<std::size_t>{2, 2, 2, 1}));
  EXPECT_EQ(threads_of_ranks(places, 3), (std::vector<std::size_t>{3, 3, 3, 3}));
}

TEST(RankPlaces, AreDoubtedWhereARankHasMoreThreadsThanCores) {
  const std::vector<RankPlace> bound = {place("a", {0}), place("a", {1})};
  EXPECT_TRUE(doubts_about(bound, {1, 1}).empty());
  const auto doubts = doubts_about(bound, {2, 2});
  ASSERT_EQ(doubts.size(), 1u);
  EXPECT_EQ(doubts[0].what, "rank 0 has 1 core of a for 2 threads each");
  EXPECT_NE(doubts[0].hint.find("PE=2"), std::string::npos);
}

TEST(RankPlaces, AreDoubtedWhereTheirCpusDiffer) {
  std::vector<RankPlace> places = {place("a", {0}), place("b", {0})};
  EXPECT_TRUE(doubts_about(places, {1, 1}).empty());
  places[1].cpu = "another";
  EXPECT_EQ(doubts_about(places, {1, 1}).size(), 1u);
}

TEST(RankPlaces, KnowWhoseProcessIsThere) {
  RankPlace own = this_place();
  EXPECT_TRUE(is_alive(own));
  own.process = 1 << 30;  // no system has so many
  EXPECT_FALSE(is_alive(own));
}

}  // namespace
}  // namespace dfrost

// Whom a peer waits for, and when it was left behind: decisions on values, without a clock.
#include "peer/patience.h"

#include <gtest/gtest.h>

#include "network/topology.h"
#include "peer/company.h"
#include "peer/rejoin.h"

namespace dfrost {
namespace {

Pulse pulse(std::uint64_t round, PeerStage stage) {
  return {
      .round = round, .phase = 0, .stage = static_cast<std::uint32_t>(stage), .progress = 1, .revision = 1};
}

TEST(Patience, WaitsForANeighbourThatIsAliveAndAdvances) {
  const PatienceOptions options;
  EXPECT_EQ(judge({.moment = {5, 0}, .pulse = pulse(5, PeerStage::train), .waited_seconds = 3000}, options),
            Verdict::wait);
  EXPECT_EQ(
      judge({.moment = {5, 0}, .pulse = pulse(3, PeerStage::exchange), .waited_seconds = 3000}, options),
      Verdict::wait);
}

TEST(Patience, DoesNotWaitForWhatCannotComeAnyMore) {
  const PatienceOptions options{.heartbeat_seconds = 5};
  EXPECT_EQ(judge({.moment = {5, 0}, .pulse = pulse(5, PeerStage::adopt)}, options), Verdict::adopts);
  EXPECT_TRUE(is_beyond(pulse(6, PeerStage::train), {5, 0}));
  EXPECT_TRUE(is_beyond(pulse(5, PeerStage::done), {5, 0}));
  EXPECT_FALSE(is_beyond(pulse(5, PeerStage::exchange), {5, 0}));
  Awaited passed{.moment = {5, 0}, .pulse = pulse(6, PeerStage::train), .passed_seconds = 9};
  EXPECT_EQ(judge(passed, options), Verdict::wait);  // its letter may still be on the way
  passed.passed_seconds = 11;
  EXPECT_EQ(judge(passed, options), Verdict::passed);
}

TEST(Patience, HasBounds) {
  const PatienceOptions options{.longest_seconds = 100, .stalled_seconds = 50};
  Awaited awaited{.moment = {5, 0}, .pulse = pulse(5, PeerStage::train), .waited_seconds = 101};
  EXPECT_EQ(judge(awaited, options), Verdict::late);
  awaited.waited_seconds = 60;
  awaited.unchanged_seconds = 51;
  EXPECT_EQ(judge(awaited, options), Verdict::stalled);
  awaited.unchanged_seconds = 1;
  EXPECT_EQ(judge(awaited, options), Verdict::wait);
  awaited.own_bound = 59;
  EXPECT_EQ(judge(awaited, options), Verdict::late);
}

TEST(Patience, LearnsHowLongANeighbourUsuallyTakes) {
  const PatienceOptions options{
      .heartbeat_seconds = 1, .least_letters = 5, .deviations = 10, .floor_seconds = 0};
  ArrivalTimes times;
  for (const double seconds : {10.0, 11.0, 12.0, 13.0}) times.add(seconds);
  EXPECT_FALSE(times.bound(options));  // too few to go by
  times.add(100);                      // one outlier moves neither the median nor the deviation much
  EXPECT_DOUBLE_EQ(*times.bound(options), 12 + 10 * 1);
  ArrivalTimes fast;
  for (int i = 0; i < 9; ++i) fast.add(0.01);
  EXPECT_DOUBLE_EQ(*fast.bound(options), 3);  // never below what it takes to call somebody gone
}

// Members 0 … 7 on a ring in the order of their numbers.
Graph ring(std::uint64_t) {
  std::vector<Edge> edges;
  for (ClientId i = 0; i < 8; ++i) edges.push_back(make_edge(i, (i + 1) % 8));
  return Graph(8, edges);
}

std::vector<PeerView> others_of(ClientId self, const std::vector<std::uint64_t>& rounds) {
  std::vector<PeerView> views;
  for (ClientId member = 0; member < rounds.size(); ++member) {
    if (member == self) continue;
    auto& view = views.emplace_back();
    view.number = member;
    view.alive = view.linked = true;
    view.pulse = pulse(rounds[member], PeerStage::train);
  }
  return views;
}

TEST(Rejoin, KnowsHowFarEverybodyCanBeWithNothingAmiss) {
  // Neighbours of who has yet to send in round 5 cannot be beyond 5, theirs not beyond 6 …
  EXPECT_EQ(furthest_rounds(0, 5, 20, 8, ring), (std::vector<std::uint64_t>{5, 5, 6, 7, 8, 7, 6, 5}));
}

TEST(Rejoin, IsNotLeftBehindWhereOthersOnlyRunAheadAsTheGraphAllows) {
  EXPECT_FALSE(round_to_join(0, 5, others_of(0, {5, 5, 6, 7, 8, 7, 6, 5}), ring));
}

TEST(Rejoin, JumpsToTheMedianWhereOthersWentOnWithoutIt) {
  EXPECT_EQ(round_to_join(0, 5, others_of(0, {5, 9, 9, 9, 10, 9, 9, 9}), ring), 9u);
  // One member alone may be wrong, or have been cut off itself.
  EXPECT_FALSE(round_to_join(0, 5, others_of(0, {5, 9, 5, 5, 5, 5, 5, 5}), ring));
}

TEST(Rejoin, BelievesOnlyWhoIsAliveAndTakesPart) {
  auto views = others_of(0, {5, 9, 9, 9, 9, 9, 9, 9});
  for (auto& view : views) view.alive = view.number == 1;
  EXPECT_FALSE(round_to_join(0, 5, views, ring));
  views = others_of(0, {5, 9, 9, 9, 9, 9, 9, 9});
  for (auto& view : views) view.pulse->stage = static_cast<std::uint32_t>(PeerStage::adopt);
  EXPECT_FALSE(round_to_join(0, 5, views, ring));
}

TEST(Rejoin, TakesTheWordOfTheOnlyOther) {
  const auto pair = [](std::uint64_t) { return Graph(2, {make_edge(0, 1)}); };
  EXPECT_EQ(round_to_join(0, 5, others_of(0, {5, 8}), pair), 8u);
}

}  // namespace
}  // namespace dfrost

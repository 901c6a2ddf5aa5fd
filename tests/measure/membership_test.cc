// The attack on made cases whose answers are known.
#include "measure/membership.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace dfrost {
namespace {

// By its definition, pair by pair.
double slow_auc(const std::vector<double>& members, const std::vector<double>& others) {
  double wins = 0;
  for (const double member : members)
    for (const double other : others) wins += member < other ? 1 : member == other ? 0.5 : 0;
  return wins / static_cast<double>(members.size() * others.size());
}

TEST(Membership, IsCertainWhereMembersHaveLessLossThroughout) {
  const std::vector<double> members = {0.1, 0.2, 0.3}, others = {1.0, 2.0};
  EXPECT_EQ(tell_members(members, others).auc, 1);
  EXPECT_EQ(tell_members(others, members).auc, 0);
  EXPECT_EQ(tell_members(std::vector{0.2, 0.2}, others).accuracy, 1);
}

TEST(Membership, IsAGuessWhereNothingTellsThemApart) {
  const std::vector<double> same = {0.5, 0.5, 0.5};
  EXPECT_EQ(tell_members(same, same).auc, 0.5);
  EXPECT_EQ(tell_members(same, same).accuracy, 0.5);
  EXPECT_EQ(tell_members({}, same).auc, 0.5);
  EXPECT_EQ(tell_members(same, {}).accuracy, 0.5);
}

TEST(Membership, CountsPairsAsTheyAreDefined) {
  RandomStream stream(1, "membership test");
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> members(1 + stream.below(30)), others(1 + stream.below(30));
    // Whole numbers, so that many are equal.
    for (double& loss : members) loss = static_cast<double>(stream.below(8));
    for (double& loss : others) loss = static_cast<double>(stream.below(10));
    EXPECT_NEAR(tell_members(members, others).auc, slow_auc(members, others), 1e-12);
  }
}

TEST(Membership, FindsTheAnswerThatTwoNormalDistributionsHave) {
  RandomStream stream(2, "membership test");
  std::vector<double> members(20'000), others(20'000);
  for (double& loss : members) loss = stream.normal();
  for (double& loss : others) loss = stream.normal() + 1;
  const auto score = tell_members(members, others);
  const auto normal_cdf = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  EXPECT_NEAR(score.auc, normal_cdf(1 / std::sqrt(2.0)), 0.015);
  EXPECT_NEAR(score.accuracy, (normal_cdf(0) + normal_cdf(1)) / 2, 0.015);  // the threshold is members' mean
}

TEST(Membership, PairsPicturesOfTheSameClassAndEachOnce) {
  RandomStream stream(3, "membership test");
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<std::size_t> own(stream.below(40)), test(stream.below(40));
    for (auto& label : own) label = stream.below(3);
    for (auto& label : test) label = stream.below(4);
    const auto pairs = pair_members(own, test, 25, RandomStream(3, "pairs", trial));
    ASSERT_EQ(pairs.members.size(), pairs.held_out.size());
    std::size_t expected = 0;  // of each class, as many as both have
    for (const std::size_t label : {0, 1, 2})
      expected +=
          static_cast<std::size_t>(std::min(std::ranges::count(own, label), std::ranges::count(test, label)));
    EXPECT_EQ(pairs.members.size(), std::min<std::size_t>(expected, 25));
    for (std::size_t i = 0; i < pairs.members.size(); ++i)
      EXPECT_EQ(own[pairs.members[i]], test[pairs.held_out[i]]);
    EXPECT_EQ(std::set(pairs.members.begin(), pairs.members.end()).size(), pairs.members.size());
    EXPECT_EQ(std::set(pairs.held_out.begin(), pairs.held_out.end()).size(), pairs.held_out.size());
  }
}

// Pictures differ much more in how hard they are than members do from others: losses alone hardly tell.
TEST(Membership, IsSeenThroughHardAndEasyPicturesByShadowModels) {
  RandomStream stream(4, "membership test");
  std::vector<double> losses(400);
  std::vector<std::vector<double>> shadows(4, losses);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double hard = 10 * stream.normal();
    losses[i] = hard - (i < 200 ? 1 : 0) + 0.2 * stream.normal();
    for (auto& shadow : shadows) shadow[i] = hard + 0.2 * stream.normal();
  }
  const auto tell = [](std::span<const double> all) {
    return tell_members(all.first(200), all.subspan(200)).auc;
  };
  EXPECT_LT(tell(losses), 0.7);
  EXPECT_GT(tell(calibrated(losses, shadows)), 0.99);
  EXPECT_EQ(calibrated(losses, {}), losses);
}

}  // namespace
}  // namespace dfrost

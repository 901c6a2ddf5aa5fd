#include "network/tls/outbox.h"

#include <gtest/gtest.h>

#include <vector>

namespace dfrost {
namespace {

SharedBytes outgoing(std::size_t size) { return std::make_shared<const std::vector<std::byte>>(size); }

// The rounds of all that is to be sent.
std::vector<std::uint64_t> send_all(Outbox& outbox) {
  std::vector<std::uint64_t> rounds;
  while (const auto item = outbox.next()) rounds.push_back(item->moment.round);
  return rounds;
}

void acknowledge(Outbox& outbox, std::uint64_t round, Delivery delivery = Delivery::kept) {
  outbox.acknowledge({.moment = {round, 0}, .delivery = delivery});
}

using Rounds = std::vector<std::uint64_t>;

TEST(Outbox, SendsOnceAndIsSettledOnceAllIsAcknowledged) {
  Outbox outbox({.rounds_ahead = 1});
  EXPECT_TRUE(outbox.is_settled());
  outbox.put({4, 0}, outgoing(10));
  outbox.put({5, 0}, outgoing(10));
  EXPECT_TRUE(outbox.has_unsent());
  EXPECT_EQ(send_all(outbox), (Rounds{4, 5}));
  EXPECT_FALSE(outbox.has_unsent());
  acknowledge(outbox, 4);
  EXPECT_FALSE(outbox.is_settled());
  acknowledge(outbox, 5, Delivery::late);
  EXPECT_TRUE(outbox.is_settled());
}

TEST(Outbox, SendsWhatWasNotAcknowledgedAgainOverANewLink) {
  Outbox outbox({.rounds_ahead = 1});
  outbox.put({4, 0}, outgoing(10));
  outbox.put({5, 0}, outgoing(10));
  send_all(outbox);
  acknowledge(outbox, 4);
  outbox.relink(4, false);
  EXPECT_EQ(send_all(outbox), (Rounds{5}));
}

TEST(Outbox, SendsEverythingFromItsRoundOnAgainToAProcessThatWasStartedAgain) {
  Outbox outbox({.rounds_ahead = 2});
  for (const std::uint64_t round : {4u, 5u, 6u}) outbox.put({round, 0}, outgoing(10));
  send_all(outbox);
  for (const std::uint64_t round : {4u, 5u, 6u}) acknowledge(outbox, round);
  outbox.relink(5, true);
  EXPECT_EQ(send_all(outbox), (Rounds{5, 6}));
}

TEST(Outbox, HoldsWhatWasTooEarlyUntilItIsAwaited) {
  Outbox outbox({.rounds_ahead = 1});
  outbox.put({9, 0}, outgoing(10));
  send_all(outbox);
  acknowledge(outbox, 9, Delivery::early);
  EXPECT_FALSE(outbox.is_settled());
  outbox.await(7);
  EXPECT_EQ(send_all(outbox), Rounds{});
  outbox.await(8);
  EXPECT_EQ(send_all(outbox), Rounds{9});
}

TEST(Outbox, KeepsTheLastRoundsAndForgetsWhatIsOlder) {
  Outbox outbox({.rounds_ahead = 2});
  for (std::uint64_t round = 1; round <= 10; ++round) {
    outbox.put({round, 0}, outgoing(10));
    send_all(outbox);
    acknowledge(outbox, round);
  }
  EXPECT_EQ(outbox.kept_bytes(), 30u);
  EXPECT_EQ(outbox.dropped(), 0u);
  outbox.relink(1, true);
  EXPECT_EQ(send_all(outbox), (Rounds{8, 9, 10}));
}

TEST(Outbox, KeepsThePreparationForAMemberThatLosesItsState) {
  Outbox outbox({.rounds_ahead = 1, .kept_bytes = 100});
  for (const std::uint64_t round : {0u, 1u, 2u, 3u}) outbox.put({round, 0}, outgoing(10));
  send_all(outbox);
  for (const std::uint64_t round : {0u, 1u, 2u, 3u}) acknowledge(outbox, round);
  outbox.begin(9);
  EXPECT_TRUE(outbox.is_settled());
  outbox.relink(8, true);  // started again with its state
  EXPECT_EQ(send_all(outbox), Rounds{});
  outbox.relink(0, true);  // and without
  EXPECT_EQ(send_all(outbox), Rounds{0});
  outbox.put({9, 0}, outgoing(100));  // but not at any price
  EXPECT_EQ(outbox.kept_bytes(), 100u);
}

TEST(Outbox, IsBoundedForAMemberThatNeverAnswers) {
  Outbox outbox({.rounds_ahead = 2, .kept_bytes = 100});
  for (std::uint64_t round = 1; round <= 1000; ++round) {
    outbox.put({round, 0}, outgoing(10));
    EXPECT_LE(outbox.kept_bytes(), 100u);
  }
  EXPECT_EQ(outbox.dropped(), 990u);
  // Of the last rounds everything is kept, whatever its size.
  outbox.put({1001, 0}, outgoing(1000));
  outbox.put({1002, 0}, outgoing(1000));
  EXPECT_EQ(outbox.kept_bytes(), 2010u);
}

}  // namespace
}  // namespace dfrost

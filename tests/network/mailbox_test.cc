#include "network/mailbox.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/random.h"

namespace dfrost {
namespace {

using std::chrono::steady_clock;

SharedBytes letter_of(std::size_t size) {
  return std::make_shared<const std::vector<std::byte>>(size, std::byte{1});
}

// For what must not wait; a test that does so all the same is seen to hang.
Exchange::Deadline far_away() { return steady_clock::now() + std::chrono::hours(1); }

// What each of these peers sent of this moment, by its size; 0 for nothing.
std::vector<std::size_t> sizes_of(const std::vector<Received>& received) {
  std::vector<std::size_t> sizes;
  for (const auto& one : received) sizes.push_back(one.arrived() ? one.message->size() : 0);
  return sizes;
}

std::vector<Absence> absences_of(const std::vector<Received>& received) {
  std::vector<Absence> absences;
  for (const auto& one : received) absences.push_back(one.absence);
  return absences;
}

const std::vector<ClientId> kOne = {1};
const std::vector<ClientId> kOneAndTwo = {1, 2};

TEST(Mailbox, TellsWhoIsMissingAndTakesNothing) {
  Mailbox mailbox(4);
  mailbox.begin({3, 0});
  EXPECT_EQ(mailbox.wait(kOneAndTwo, Exchange::kNoWaiting), kOneAndTwo);
  mailbox.deliver(2, {3, 0}, letter_of(5));
  EXPECT_EQ(mailbox.wait(kOneAndTwo, Exchange::kNoWaiting), kOne);
  std::thread other([&] { mailbox.mark_gone(1); });
  EXPECT_TRUE(mailbox.wait(kOneAndTwo, far_away()).empty());
  other.join();
  EXPECT_EQ(sizes_of(mailbox.receive(kOneAndTwo, far_away())), (std::vector<std::size_t>{0, 5}));
}

TEST(Mailbox, GivesWhatCameSortedBySenderAndKeepsNothingOfIt) {
  Mailbox mailbox(4);
  const auto letter = letter_of(3);
  mailbox.deliver(3, {}, letter);
  mailbox.deliver(1, {}, letter_of(1));
  const std::vector<ClientId> peers = {3, 1};
  const auto received = mailbox.receive(peers, far_away());
  EXPECT_EQ(sizes_of(received), (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(received[1].message, letter);  // not a copy
  EXPECT_EQ(letter.use_count(), 2);        // ours and the received one
  EXPECT_EQ(absences_of(received), (std::vector<Absence>{Absence::none, Absence::none}));
}

TEST(Mailbox, KeepsLaterPhasesAndAFewRoundsAhead) {
  Mailbox mailbox(4, {.rounds_ahead = 2});
  mailbox.begin({5, 1});
  const std::vector<Moment> kept = {{5, 1}, {5, 2}, {5, 3}, {6, 0}, {7, 0}, {7, 4}};
  for (std::size_t i = kept.size(); i-- > 0;) mailbox.deliver(1, kept[i], letter_of(i + 1));
  mailbox.deliver(1, {8, 0}, letter_of(99));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    mailbox.begin(kept[i]);
    EXPECT_EQ(sizes_of(mailbox.receive(kOne, far_away())), (std::vector<std::size_t>{i + 1})) << i;
  }
  EXPECT_EQ(mailbox.counts().received_messages, kept.size());
  EXPECT_EQ(mailbox.counts().early, 1u);
}

TEST(Mailbox, TakesNothingOfAMomentThatIsOver) {
  Mailbox mailbox(4);
  mailbox.begin({5, 1});
  mailbox.deliver(1, {4, 7}, letter_of(1));
  mailbox.deliver(1, {5, 0}, letter_of(1));
  mailbox.receive(kOne, Exchange::kNoWaiting);
  mailbox.deliver(1, {5, 1}, letter_of(1));
  EXPECT_EQ(mailbox.counts(), (ExchangeCounts{.missing = 1, .late = 3}));
}

TEST(Mailbox, KeepsTheFirstOfTwoFromOneSender) {
  Mailbox mailbox(4);
  mailbox.deliver(1, {}, letter_of(1));
  mailbox.deliver(1, {}, letter_of(2));
  EXPECT_EQ(sizes_of(mailbox.receive(kOne, far_away())), (std::vector<std::size_t>{1}));
  EXPECT_EQ(mailbox.counts().repeated, 1u);
}

TEST(Mailbox, DropsWhatNobodyAskedFor) {
  Mailbox mailbox(4);
  mailbox.deliver(2, {}, letter_of(1));          // received by nobody
  mailbox.deliver(4'000'000, {}, letter_of(1));  // no client at all
  mailbox.deliver(1, {1, 0}, letter_of(1));      // of a round that is skipped
  mailbox.receive({}, Exchange::kNoWaiting);
  mailbox.begin({2, 0});
  EXPECT_EQ(mailbox.counts(), (ExchangeCounts{.unexpected = 3}));
}

TEST(Mailbox, HoldsNothingOfThoseWhoAreNoNeighboursInThatRound) {
  // In even rounds client 1 is one, in odd rounds client 2.
  Mailbox mailbox(4, {.rounds_ahead = 1, .admits = [](ClientId sender, Moment moment) {
                        return sender == 1 + moment.round % 2;
                      }});
  mailbox.begin({4, 0});
  const auto letter = letter_of(1);
  for (ClientId sender = 0; sender < 4; ++sender) {
    mailbox.deliver(sender, {4, 0}, letter);
    mailbox.deliver(sender, {5, 0}, letter);
    mailbox.refuse(sender, {4, 1});
  }
  EXPECT_EQ(letter.use_count(), 3);
  EXPECT_EQ(mailbox.counts(), (ExchangeCounts{.unexpected = 9, .too_large = 1}));
  EXPECT_EQ(sizes_of(mailbox.receive(kOne, far_away())), (std::vector<std::size_t>{1}));
}

TEST(Mailbox, NamesThePeerWhoseMessageItRefusedAndDoesNotWaitForIt) {
  Mailbox mailbox(4, {.message_limit_bytes = 10});
  mailbox.deliver(1, {}, letter_of(11));
  mailbox.refuse(2, {});                 // as a wire does that stops reading
  mailbox.deliver(2, {}, letter_of(1));  // too late to think better of it
  const auto received = mailbox.receive(kOneAndTwo, far_away());
  EXPECT_EQ(absences_of(received), (std::vector<Absence>{Absence::refused, Absence::refused}));
  EXPECT_EQ(mailbox.counts(), (ExchangeCounts{.missing = 2, .repeated = 1, .too_large = 2}));
}

TEST(Mailbox, SaysWhoWasNotThereAtTheDeadline) {
  Mailbox mailbox(4);
  mailbox.deliver(2, {}, letter_of(1));
  const auto deadline = steady_clock::now() + std::chrono::milliseconds(20);
  const auto received = mailbox.receive(kOneAndTwo, deadline);
  EXPECT_GE(steady_clock::now(), deadline);
  EXPECT_EQ(absences_of(received), (std::vector<Absence>{Absence::deadline, Absence::none}));
}

TEST(Mailbox, DoesNotWaitForAPeerThatIsGoneAndDoesWhenItIsBack) {
  Mailbox mailbox(4);
  mailbox.deliver(1, {}, letter_of(1));
  mailbox.mark_gone(1);  // what it sent before counts
  mailbox.mark_gone(2);
  EXPECT_EQ(absences_of(mailbox.receive(kOneAndTwo, far_away())),
            (std::vector<Absence>{Absence::none, Absence::gone}));
  mailbox.begin({1, 0});
  mailbox.mark_back(1);
  EXPECT_EQ(absences_of(mailbox.receive(kOneAndTwo, Exchange::kNoWaiting)),
            (std::vector<Absence>{Absence::deadline, Absence::gone}));
  EXPECT_EQ(mailbox.counts().missing, 3u);
}

TEST(Mailbox, StopsWaitingWhenThePeerGoesMeanwhile) {
  Mailbox mailbox(4);
  std::thread wire([&] {
    mailbox.deliver(2, {}, letter_of(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    mailbox.mark_gone(1);
  });
  EXPECT_EQ(absences_of(mailbox.receive(kOneAndTwo, far_away())),
            (std::vector<Absence>{Absence::gone, Absence::none}));
  wire.join();
}

TEST(Mailbox, HoldsABoundedNumberOfMessagesHoweverPeersBehave) {
  constexpr std::size_t kClients = 5;
  Mailbox mailbox(kClients, {.rounds_ahead = 2, .phases_per_round = 3});
  mailbox.begin({10, 1});
  const auto letter = letter_of(1);
  for (ClientId sender = 0; sender < 3 * kClients; ++sender) {
    for (std::uint64_t round = 0; round < 30; ++round) {
      for (std::uint32_t phase = 0; phase < 30; ++phase) mailbox.deliver(sender, {round, phase}, letter);
    }
    mailbox.deliver(sender, {~std::uint64_t{0}, ~std::uint32_t{0}}, letter);
  }
  EXPECT_EQ(letter.use_count(), 1 + static_cast<long>(kClients) * (2 + 2 * 3));
}

TEST(Mailbox, CountsEveryMessageThatCameOnce) {
  Mailbox mailbox(6, {.rounds_ahead = 1, .phases_per_round = 2, .message_limit_bytes = 8});
  RandomStream random(1, "letters");
  const auto below = [&](std::uint64_t end) { return random.below(end); };
  const std::uint64_t rounds = 40;
  const std::uint64_t letters_per_moment = 30;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    mailbox.begin({round, static_cast<std::uint32_t>(below(2))});
    for (std::uint64_t i = 0; i < letters_per_moment; ++i) {
      const Moment moment{round - 1 + below(4), static_cast<std::uint32_t>(below(3))};
      mailbox.deliver(static_cast<ClientId>(below(7)), moment, letter_of(1 + below(9)));
    }
    if (below(3) > 0) mailbox.receive(kOneAndTwo, Exchange::kNoWaiting);
  }
  mailbox.begin({rounds + 5, 0});  // keeps nothing
  const auto counts = mailbox.counts();
  for (const auto count : {counts.received_messages, counts.late, counts.early, counts.repeated,
                           counts.unexpected, counts.too_large})
    EXPECT_GT(count, 0u);
  EXPECT_EQ(counts.received_messages + counts.late + counts.early + counts.repeated + counts.unexpected +
                counts.too_large,
            rounds * letters_per_moment);
}

TEST(Mailbox, TakesMessagesFromManyThreadsWhileItsOwnerReceives) {
  constexpr std::uint64_t kRounds = 200;
  const std::vector<ClientId> peers = {1, 2, 3};
  Mailbox mailbox(4, {.rounds_ahead = kRounds});
  std::vector<std::thread> wires;
  for (const ClientId peer : peers) {
    wires.emplace_back([&, peer] {
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        for (const std::uint32_t phase : {0u, 1u}) mailbox.deliver(peer, {round, phase}, letter_of(peer));
      }
    });
  }
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    for (const std::uint32_t phase : {0u, 1u}) {
      mailbox.begin({round, phase});
      ASSERT_EQ(sizes_of(mailbox.receive(peers, far_away())), (std::vector<std::size_t>{1, 2, 3}));
    }
  }
  for (auto& wire : wires) wire.join();
  EXPECT_EQ(mailbox.counts(),
            (ExchangeCounts{.received_messages = 6 * kRounds, .received_bytes = 12 * kRounds}));
}

TEST(Mailbox, SaysBeforeAMessageComesWhetherItWouldBeKept) {
  Mailbox mailbox(3, {.rounds_ahead = 1});
  mailbox.begin({5, 0});
  EXPECT_EQ(mailbox.announce(1, {5, 0}), Delivery::kept);
  EXPECT_EQ(mailbox.announce(1, {5, 0}), Delivery::kept);  // it has not come yet
  EXPECT_EQ(mailbox.deliver(1, {5, 0}, letter_of(3)), Delivery::kept);
  EXPECT_EQ(mailbox.announce(1, {5, 0}), Delivery::repeated);
  EXPECT_EQ(mailbox.announce(1, {4, 0}), Delivery::late);
  EXPECT_EQ(mailbox.announce(1, {7, 0}), Delivery::early);
  EXPECT_EQ(mailbox.announce(9, {5, 0}), Delivery::unexpected);
  EXPECT_EQ(mailbox.counts(), (ExchangeCounts{.late = 1, .early = 1, .repeated = 1, .unexpected = 1}));
}

}  // namespace
}  // namespace dfrost

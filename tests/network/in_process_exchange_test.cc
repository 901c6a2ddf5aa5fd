#include "network/in_process_exchange.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "base/random.h"
#include "base/thread_pool.h"
#include "network/mailbox_depth.h"
#include "network/topology.h"

namespace dfrost {
namespace {

using std::chrono::steady_clock;

SharedBytes bytes_of(std::size_t size, std::uint8_t fill = 0) {
  return std::make_shared<const std::vector<std::byte>>(size, std::byte{fill});
}

std::vector<ClientId> senders_of(const std::vector<Received>& received) {
  std::vector<ClientId> senders;
  for (const auto& one : received) senders.push_back(one.sender);
  return senders;
}

TEST(InProcessExchange, GivesMessagesSortedBySenderWhateverTheOrderOfArrival) {
  InProcessNetwork network(4);
  for (const ClientId sender : {3u, 1u, 2u}) {
    network.exchange_of(sender).send(0, bytes_of(sender, static_cast<std::uint8_t>(sender)));
  }
  const std::vector<ClientId> peers = {2, 3, 1};
  const auto received = network.exchange_of(0).receive(peers, Exchange::kNoWaiting);
  EXPECT_EQ(senders_of(received), (std::vector<ClientId>{1, 2, 3}));
  for (const auto& one : received) {
    ASSERT_TRUE(one.arrived());
    EXPECT_EQ(one.message->size(), one.sender);
  }
}

TEST(InProcessExchange, CountsEveryByteOncePerPeer) {
  InProcessNetwork network(3);
  const auto message = bytes_of(100);
  network.exchange_of(0).send(1, message);
  network.exchange_of(0).send(2, message);
  const std::vector<ClientId> peers = {0};
  network.exchange_of(1).receive(peers, Exchange::kNoWaiting);
  EXPECT_EQ(network.exchange_of(0).counts(), (ExchangeCounts{.sent_messages = 2, .sent_bytes = 200}));
  EXPECT_EQ(network.exchange_of(1).counts(), (ExchangeCounts{.received_messages = 1, .received_bytes = 100}));
}

TEST(InProcessExchange, CopiesNothing) {
  InProcessNetwork network(2);
  const auto message = bytes_of(100);
  network.exchange_of(0).send(1, message);
  const std::vector<ClientId> peers = {0};
  EXPECT_EQ(network.exchange_of(1).receive(peers, Exchange::kNoWaiting)[0].message, message);
  EXPECT_EQ(message.use_count(), 1);  // and keeps nothing once it was received
}

TEST(InProcessExchange, SaysWhoIsMissingAtTheDeadline) {
  InProcessNetwork network(4);
  network.exchange_of(2).send(0, bytes_of(1));
  const std::vector<ClientId> peers = {1, 2, 3};
  const auto deadline = steady_clock::now() + std::chrono::milliseconds(20);
  const auto received = network.exchange_of(0).receive(peers, deadline);
  EXPECT_GE(steady_clock::now(), deadline);
  EXPECT_EQ(senders_of(received), peers);
  EXPECT_FALSE(received[0].arrived());
  EXPECT_TRUE(received[1].arrived());
  EXPECT_FALSE(received[2].arrived());
  EXPECT_EQ(network.exchange_of(0).counts().missing, 2u);
}

TEST(InProcessExchange, DropsAndCountsWhatIsLateEarlyRepeatedUnexpectedOrTooLarge) {
  InProcessNetwork network(5, {.rounds_ahead = 1, .message_limit_bytes = 10});
  auto& receiver = network.exchange_of(0);
  receiver.begin({5, 0});
  const auto send = [&](ClientId sender, std::uint64_t round, std::size_t size) {
    network.exchange_of(sender).begin({round, 0});
    network.exchange_of(sender).send(0, bytes_of(size));
  };
  send(1, 4, 1);  // late
  send(1, 5, 2);
  send(1, 5, 3);   // repeated: the first is kept
  send(2, 5, 11);  // too large
  send(3, 6, 4);   // of the next round: kept
  send(3, 7, 5);   // early
  send(4, 5, 6);   // unexpected
  const std::vector<ClientId> peers = {1, 2};
  const auto received = receiver.receive(peers, Exchange::kNoWaiting);
  ASSERT_TRUE(received[0].arrived());
  EXPECT_EQ(received[0].message->size(), 2u);
  EXPECT_FALSE(received[1].arrived());
  EXPECT_EQ(received[1].absence, Absence::refused);
  network.exchange_of(2).send(0, bytes_of(1));  // of round 5, which is over: late
  receiver.begin({6, 0});
  const std::vector<ClientId> next_peers = {3};
  ASSERT_TRUE(receiver.receive(next_peers, Exchange::kNoWaiting)[0].arrived());
  EXPECT_EQ(receiver.counts(), (ExchangeCounts{.received_messages = 2,
                                               .received_bytes = 6,
                                               .missing = 1,
                                               .late = 2,
                                               .early = 1,
                                               .repeated = 1,
                                               .unexpected = 1,
                                               .too_large = 1}));
}

TEST(InProcessExchange, LetsAClientSitOutRounds) {
  InProcessNetwork network(2);
  for (const std::uint64_t round : {0u, 7u}) {
    for (const ClientId client : {0u, 1u}) network.exchange_of(client).begin({round, 0});
    network.exchange_of(1).send(0, bytes_of(1));
    const std::vector<ClientId> peers = {1};
    EXPECT_TRUE(network.exchange_of(0).receive(peers, Exchange::kNoWaiting)[0].arrived());
  }
}

TEST(InProcessExchange, KeepsTheMessagesOfAPeerThatIsAPhaseAheadApart) {
  InProcessNetwork network(2);
  const std::vector<ClientId> peers = {1};
  for (const std::uint32_t phase : {0u, 1u}) {
    network.exchange_of(1).begin({1, phase});
    network.exchange_of(1).send(0, bytes_of(10 + phase));
  }
  for (const std::uint32_t phase : {0u, 1u}) {
    network.exchange_of(0).begin({1, phase});
    EXPECT_EQ(network.exchange_of(0).receive(peers, Exchange::kNoWaiting)[0].message->size(), 10 + phase);
  }
}

TEST(InProcessExchange, ExpectsNothingOfAnIsolatedClient) {
  InProcessNetwork network(1);
  const auto far = steady_clock::now() + std::chrono::hours(1);
  EXPECT_TRUE(network.exchange_of(0).receive({}, far).empty());
}

TEST(InProcessExchange, RunsRoundsInPhasesOnAnyNumberOfThreadsWithTheSameResult) {
  constexpr std::size_t kClients = 40;
  const Topology topology({.degree = 6}, kClients, 3);
  const auto run = [&](std::size_t threads) {
    ThreadPool pool(threads);
    InProcessNetwork network(kClients);
    std::vector<std::uint64_t> state(kClients);
    for (std::size_t client = 0; client < kClients; ++client) state[client] = client;
    for (std::uint64_t round = 0; round < 20; ++round) {
      const auto graph = topology.draw(round);
      pool.parallel_for(kClients, [&](std::size_t client, std::size_t) {
        network.exchange_of(static_cast<ClientId>(client)).begin({round, 0});
      });
      pool.parallel_for(kClients, [&](std::size_t client, std::size_t) {
        std::vector<std::byte> message(8);
        std::memcpy(message.data(), &state[client], 8);
        const auto shared = std::make_shared<const std::vector<std::byte>>(std::move(message));
        for (const ClientId peer : graph.neighbours(static_cast<ClientId>(client))) {
          network.exchange_of(static_cast<ClientId>(client)).send(peer, shared);
        }
      });
      pool.parallel_for(kClients, [&](std::size_t client, std::size_t) {
        const auto self = static_cast<ClientId>(client);
        for (const auto& one :
             network.exchange_of(self).receive(graph.neighbours(self), Exchange::kNoWaiting)) {
          ASSERT_TRUE(one.arrived());
          std::uint64_t value = 0;
          std::memcpy(&value, one.message->data(), 8);
          state[client] = state[client] * 31 + value;  // depends on the order
        }
      });
    }
    return state;
  };
  const auto alone = run(1);
  EXPECT_EQ(run(2), alone);
  EXPECT_EQ(run(4), alone);
}

TEST(InProcessExchange, BringsPeersThatRunFreelyThroughTheirRounds) {
  // As real peers do: each in its own thread, at its own pace, waiting only for its neighbours.
  constexpr std::size_t kClients = 8;
  constexpr std::uint64_t kRounds = 50;
  const Topology topology({.kind = TopologyKind::ring}, kClients, 3);
  InProcessNetwork network(kClients, {.rounds_ahead = rounds_ahead(topology, {})});
  std::vector<std::thread> peers;
  for (ClientId self = 0; self < kClients; ++self) {
    peers.emplace_back([&, self] {
      auto& exchange = network.exchange_of(self);
      RandomStream random(1, "pace", self);
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        const auto graph = topology.draw(round);
        exchange.begin({round, 0});
        std::this_thread::sleep_for(std::chrono::microseconds(random.below(200)));
        for (const ClientId peer : graph.neighbours(self)) exchange.send(peer, bytes_of(10));
        const auto deadline = steady_clock::now() + std::chrono::minutes(1);
        for (const auto& one : exchange.receive(graph.neighbours(self), deadline)) {
          EXPECT_TRUE(one.arrived());
        }
      }
    });
  }
  for (auto& peer : peers) peer.join();
  for (ClientId self = 0; self < kClients; ++self) {
    EXPECT_EQ(network.exchange_of(self).counts(), (ExchangeCounts{.sent_messages = 2 * kRounds,
                                                                  .sent_bytes = 20 * kRounds,
                                                                  .received_messages = 2 * kRounds,
                                                                  .received_bytes = 20 * kRounds}));
  }
}

}  // namespace
}  // namespace dfrost

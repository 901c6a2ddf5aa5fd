// Strangers and liars: each is refused and counted, and two honest sites go on meanwhile.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <thread>

#include "base/random.h"
#include "network/tls/raw_client.h"
#include "network/tls/sites.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::eventually;
using test::far_off;
using test::hello_of;
using test::letter_of;
using test::RawClient;
using test::Sites;

constexpr FrameRules kLinkRules = {.version = kWireVersion, .message_limit_bytes = 4 << 20};

// Sites 0 and 1 are honest and linked; site 2 is a member whose key the test has.
class Hostile : public ::testing::Test {
 protected:
  Hostile() : sites_(3) {
    sites_.options.mailbox.message_limit_bytes = 100'000;
    sites_.options.limits.handshake_seconds = 20;
  }

  void start() {
    sites_.start(0);
    sites_.start(1);
    ASSERT_TRUE(eventually([&] { return sites_.linked(0, 1); }));
  }

  // Whatever happened before: 0 and 1 still bring each other their letters, over the link they had.
  void expect_honest_round() {
    ++round_;
    const std::vector<ClientId> zero = {0}, one = {1};
    for (ClientId self = 0; self < 2; ++self) {
      sites_.exchange(self).begin({round_, 0});
      sites_.exchange(self).send(1 - self, letter_of(50'000, self));
    }
    EXPECT_TRUE(sites_.exchange(0).receive(one, far_off())[0].arrived());
    EXPECT_TRUE(sites_.exchange(1).receive(zero, far_off())[0].arrived());
    EXPECT_EQ(sites_.view(0, 1).reconnects, 0u);
  }

  std::uint64_t refused(const std::string& reason) { return sites_[0].strangers().of(reason); }
  ::testing::AssertionResult is_counted(const std::string& reason, std::uint64_t times = 1) {
    if (eventually([&] { return refused(reason) >= times; })) return ::testing::AssertionSuccess();
    auto result = ::testing::AssertionFailure() << reason << " is not among";
    for (const auto& [other, count] : sites_[0].strangers().by_reason) result << " " << other << ":" << count;
    return result << "; link: " << sites_.view(0, 2).trouble;
  }
  std::uint16_t port() { return sites_.port(0); }
  Greeting hello() { return hello_of(sites_.options_of(2)); }

  std::optional<RefuseCode> refusal_of(const PrivateKey& key, const Greeting& hello) {
    RawClient client(port());
    if (!client.shake_hands(&key)) return std::nullopt;
    client.send(encode_greeting(FrameType::hello, hello));
    const auto refusal = client.read_refusal();
    return refusal ? std::optional(refusal->code) : std::nullopt;
  }

  // A member that is welcome and then misbehaves: its link is closed.
  void expect_closed_after(std::span<const std::byte> bytes, const std::string& reason) {
    RawClient liar(port());
    ASSERT_TRUE(liar.join(sites_.key(2), hello()));
    liar.send(bytes);
    while (!liar.is_closed_by_peer()) {
    }
    EXPECT_TRUE(is_counted(reason));
    expect_honest_round();
  }

  Sites sites_;
  std::uint64_t round_ = 0;
};

TEST_F(Hostile, WithoutACertificateIsRefused) {
  start();
  RawClient client(port());
  if (client.shake_hands(nullptr)) client.read_greeting();
  EXPECT_TRUE(is_counted("no_certificate"));
  expect_honest_round();
}

TEST_F(Hostile, WithAKeyOfNoMemberIsRefused) {
  start();
  RawClient client(port());
  const auto key = PrivateKey::generate();
  if (client.shake_hands(&key)) {
    EXPECT_EQ(client.read_greeting(), std::nullopt);
  }
  EXPECT_TRUE(is_counted("unknown_key"));
  expect_honest_round();
}

TEST_F(Hostile, WithAnOlderTlsIsRefused) {
  start();
  RawClient client(port());
  EXPECT_FALSE(client.shake_hands(&sites_.key(2), TLS1_2_VERSION));
  EXPECT_TRUE(is_counted("not_tls"));
  expect_honest_round();
}

TEST_F(Hostile, OfAnotherFederationRunOrRevisionIsToldSo) {
  start();
  auto federation = hello(), run = hello(), number = hello(), version = hello();
  federation.federation.bytes[5] = std::byte{1};
  run.run.bytes[5] = std::byte{1};
  number.number = 1;  // says it is another member
  version.oldest_version = version.newest_version = 9;
  EXPECT_EQ(refusal_of(sites_.key(2), federation), RefuseCode::federation);
  EXPECT_EQ(refusal_of(sites_.key(2), run), RefuseCode::run);
  EXPECT_EQ(refusal_of(sites_.key(2), number), RefuseCode::number);
  EXPECT_EQ(refusal_of(sites_.key(2), version), RefuseCode::version);
  auto older = hello(), newer = hello();
  older.revision = 0;
  newer.revision = 7;
  EXPECT_EQ(refusal_of(sites_.key(2), older), RefuseCode::older_revision);
  EXPECT_EQ(sites_[0].revision_seen(), 1u);
  EXPECT_EQ(refusal_of(sites_.key(2), newer), RefuseCode::newer_revision);
  EXPECT_EQ(sites_[0].revision_seen(), 7u);
  EXPECT_NE(sites_.view(0, 2).trouble.find("newer_revision"), std::string::npos);
  for (const auto* reason : {"federation", "run", "number", "version", "older_revision", "newer_revision"})
    EXPECT_EQ(refused(reason), 1u) << reason;
  EXPECT_EQ(refusal_of(sites_.key(2), hello()), std::nullopt);  // all that was wrong with it
  expect_honest_round();
}

TEST_F(Hostile, BytesBeforeTheHandshakeAreRefused) {
  start();
  RandomStream random(1, "noise");
  for (int i = 0; i < 8; ++i) {
    RawClient client(port());
    std::string noise(1 + random.below(2000), ' ');
    for (char& c : noise) c = static_cast<char>(random.next());
    if (i > 3) noise[0] = 0x16;  // begins as TLS does
    client.send_bare(noise);
    ::shutdown(client.socket(), SHUT_WR);
    client.read_to_end();
  }
  EXPECT_TRUE(eventually([&] { return refused("not_tls") + refused("hung_up") >= 8; }));
  EXPECT_GT(refused("not_tls"), 0u);
  expect_honest_round();
}

TEST_F(Hostile, BytesAfterTheHandshakeAreRefused) {
  start();
  RandomStream random(1, "noise");
  for (int i = 0; i < 4; ++i) {
    RawClient client(port());
    ASSERT_TRUE(client.shake_hands(&sites_.key(2)));
    std::string noise(500, ' ');
    for (char& c : noise) c = static_cast<char>(random.next());
    client.send(noise);
    const auto refusal = client.read_refusal();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->code, RefuseCode::malformed);
  }
  EXPECT_EQ(refused("malformed_hello"), 4u);
  expect_honest_round();
}

TEST_F(Hostile, ConnectionsThatNeverFinishAreClosedAfterTheirTime) {
  sites_.options.limits.handshake_seconds = 0.5;
  start();
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 6; ++i) slow.push_back(std::make_unique<RawClient>(port()));
  slow[0]->send_bare(std::string("\x16\x03\x01", 3));             // three bytes of TLS, and no more
  if (slow[1]->shake_hands(&sites_.key(2))) slow[1]->send("DF");  // two bytes of a HELLO
  EXPECT_TRUE(is_counted("handshake_timeout", 6));
  for (auto& one : slow) one->read_to_end();  // returns: each was closed
  expect_honest_round();
}

TEST_F(Hostile, AThousandConnectionsTakeNoMoreThanTheLimits) {
  start();
  std::vector<std::unique_ptr<RawClient>> crowd;
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  for (int batch = 0; batch < 10; ++batch) {
    crowd.clear();
    for (int i = 0; i < 100; ++i) crowd.push_back(std::make_unique<RawClient>(port()));
    if (batch % 3 == 0) expect_honest_round();
    // Ours are a hundred; the site holds 8 of them, and a few for everything else.
    EXPECT_TRUE(eventually([&] { return open_files() < 100 + 8 + 40; }));
  }
  EXPECT_TRUE(eventually([&] { return refused("too_many_from_address") + refused("hung_up") >= 900; }));
  expect_honest_round();
  crowd.clear();
  // And who has a key comes in as soon as there is room.
  EXPECT_TRUE(eventually([&] { return RawClient(port()).join(sites_.key(2), hello()); }));
}

TEST_F(Hostile, AMemberIsBarredForAnOversizedLetterWhichNobodyWaitsFor) {
  start();
  RawClient liar(port());
  ASSERT_TRUE(liar.join(sites_.key(2), hello()));
  const auto head = encode_letter_head(kWireVersion, {.sender = 2, .moment = {1, 0}}, std::size_t{1} << 40);
  liar.send(head);
  while (!liar.is_closed_by_peer()) {
  }
  EXPECT_EQ(refused("oversized_letter"), 1u);
  const std::vector<ClientId> two = {2};
  sites_.exchange(0).begin({1, 0});
  EXPECT_EQ(sites_.exchange(0).receive(two, far_off())[0].absence, Absence::refused);
}

TEST_F(Hostile, AMemberIsBarredForAWhile) {
  sites_.options.limits.barred_seconds = 3600;
  start();
  {
    RawClient liar(port());
    ASSERT_TRUE(liar.join(sites_.key(2), hello()));
    liar.send(std::string(64, 'x'));
    while (!liar.is_closed_by_peer()) {
    }
  }
  EXPECT_TRUE(eventually([&] { return refusal_of(sites_.key(2), hello()) == RefuseCode::barred; }));
  expect_honest_round();
}

TEST_F(Hostile, AFrameThatIsNoneEndsTheLink) {
  start();
  const std::string noise(64, 'x');
  expect_closed_after(std::as_bytes(std::span(noise)), "malformed_frame");
}

TEST_F(Hostile, AnOversizedHeartbeatEndsTheLink) {
  start();
  auto frame = encode_pulse(kWireVersion, {});
  frame[14] = std::byte{1};
  expect_closed_after(frame, "malformed_frame");
}

TEST_F(Hostile, AGreetingAfterTheGreetingEndsTheLink) {
  start();
  expect_closed_after(encode_greeting(FrameType::hello, hello()), "malformed_frame");
}

TEST_F(Hostile, AMemberThatSpeaksForAnotherLosesItsLink) {
  start();
  auto frame = encode_letter_head(kWireVersion, {.sender = 1, .moment = {1, 0}}, 10);
  frame.resize(frame.size() + 10);
  expect_closed_after(frame, "speaks_for_another");  // and the round of 0 and 1 has 1's own letter
}

TEST_F(Hostile, ALetterThatEndsInItsMiddleIsForgotten) {
  start();
  {
    RawClient liar(port());
    ASSERT_TRUE(liar.join(sites_.key(2), hello()));
    auto frame = encode_letter_head(kWireVersion, {.sender = 2, .moment = {1, 0}}, 1000);
    frame.resize(frame.size() + 500);
    liar.send(frame);
  }
  EXPECT_TRUE(eventually([&] { return !sites_.view(0, 2).linked; }));
  EXPECT_EQ(sites_.view(0, 2).received_messages, 0u);
  RawClient again(port());  // and may be sent again, whole
  ASSERT_TRUE(again.join(sites_.key(2), hello()));
  again.send_letter({.sender = 2, .moment = {1, 0}}, 1000);
  EXPECT_EQ(again.read_ack(kLinkRules, {1, 0}), Delivery::kept);
  expect_honest_round();
}

TEST_F(Hostile, ReplaysOfOldRoundsAreCountedAndSkipped) {
  start();
  for (int i = 0; i < 5; ++i) expect_honest_round();
  RawClient liar(port());
  ASSERT_TRUE(liar.join(sites_.key(2), hello()));
  for (std::uint64_t round = 1; round < 5; ++round) {
    liar.send_letter({.sender = 2, .moment = {round, 0}}, 1000);
    EXPECT_EQ(liar.read_ack(kLinkRules, {round, 0}), Delivery::late);
  }
  liar.send_letter({.sender = 2, .moment = {1000, 0}}, 1000);
  EXPECT_EQ(liar.read_ack(kLinkRules, {1000, 0}), Delivery::early);
  EXPECT_EQ(refused("late_letter"), 4u);
  EXPECT_EQ(refused("early_letter"), 1u);
  EXPECT_EQ(sites_.view(0, 2).received_messages, 0u);  // none was taken into memory
  expect_honest_round();
}

TEST_F(Hostile, AFloodOfValidMessagesIsSlowedDownAndHoldsNobodyBack) {
  sites_.options.limits.frames_per_second = 300;
  start();
  std::atomic<bool> stop{false};
  std::thread flood([&] {
    RawClient liar(port());
    ASSERT_TRUE(liar.join(sites_.key(2), hello()));
    while (!stop && liar.send_letter({.sender = 2, .moment = {1, 0}}, 100)) {
    }
  });
  EXPECT_TRUE(is_counted("throttled", 3));
  for (int i = 0; i < 3; ++i) expect_honest_round();
  EXPECT_TRUE(eventually([&] { return refused("repeated_letter") + refused("late_letter") > 300; }));
  stop = true;
  sites_.stop(0);  // lets go of who is stuck in sending
  flood.join();
}

TEST_F(Hostile, AMemberThatNeverReadsIsDroppedOnceItsAnswersPileUp) {
  sites_.options.limits.frames_per_second = 1e9;
  start();
  std::thread deaf([&] {
    RawClient liar(port());
    ASSERT_TRUE(liar.join(sites_.key(2), hello()));
    while (liar.send_letter({.sender = 2, .moment = {1, 0}}, 1)) {
    }
  });
  EXPECT_TRUE(is_counted("slow_reader"));
  deaf.join();
}

TEST_F(Hostile, ASecondProcessWithTheSameIdentityIsRefusedAndToldSo) {
  sites_.options.heartbeat_seconds = 0.3;  // a first process that is late with one would be taken for dead
  sites_.options.missed_heartbeats = 2;
  start();
  auto options = sites_.options_of(1);
  TlsNetwork second(options, sites_.key(1));
  EXPECT_TRUE(eventually([&] { return second.refused_as_duplicate(); }));
  EXPECT_NE(second.peers()[0].trouble.find("another process with our identity"), std::string::npos)
      << second.peers()[0].trouble;
  EXPECT_FALSE(sites_[1].refused_as_duplicate());
  EXPECT_GT(refused("duplicate"), 0u);
}

}  // namespace
}  // namespace dfrost

// Honest sites over good and bad links.
#include "network/tls/tls_network.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "base/random.h"
#include "network/in_process_exchange.h"
#include "network/tls/sites.h"
#include "support/proxy.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::eventually;
using test::far_off;
using test::letter_of;
using test::Proxy;
using test::Sites;

std::vector<ClientId> all_but(ClientId self, std::size_t count) {
  std::vector<ClientId> others;
  for (ClientId one = 0; one < count; ++one) {
    if (one != self) others.push_back(one);
  }
  return others;
}

// A letter that nobody else would write.
SharedBytes letter_from(ClientId sender, std::uint64_t round, std::size_t size) {
  auto bytes = std::make_shared<std::vector<std::byte>>(size);
  RandomStream random(1, "letter", sender, round);
  for (auto& byte : *bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

// Everybody writes to everybody in so many rounds, each at its own pace. Returns what each got, in order.
using Post = std::vector<std::vector<std::byte>>;
std::vector<Post> exchange_all(std::vector<Exchange*> exchanges, std::uint64_t rounds, std::size_t size) {
  std::vector<Post> posts(exchanges.size());
  std::vector<std::thread> threads;
  for (ClientId self = 0; self < exchanges.size(); ++self) {
    threads.emplace_back([&, self] {
      const auto others = all_but(self, exchanges.size());
      for (std::uint64_t round = 1; round <= rounds; ++round) {
        exchanges[self]->begin({round, 0});
        const auto message = letter_from(self, round, size + 17 * self);
        for (const ClientId other : others) exchanges[self]->send(other, message);
        for (const auto& one : exchanges[self]->receive(others, far_off())) {
          posts[self].push_back(one.arrived() ? *one.message : std::vector<std::byte>());
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return posts;
}

std::vector<Exchange*> exchanges_of(Sites& sites) {
  std::vector<Exchange*> exchanges;
  for (ClientId site = 0; site < sites.count(); ++site) exchanges.push_back(&sites.exchange(site));
  return exchanges;
}

void expect_same_as_in_one_process(std::size_t count, std::uint64_t rounds, std::size_t size) {
  Sites sites(count);
  sites.start_all();
  InProcessNetwork network(count);
  std::vector<Exchange*> inside;
  for (ClientId client = 0; client < count; ++client) inside.push_back(&network.exchange_of(client));
  const auto expected = exchange_all(inside, rounds, size);
  EXPECT_EQ(exchange_all(exchanges_of(sites), rounds, size), expected);
  for (ClientId site = 0; site < count; ++site) {
    EXPECT_EQ(sites.exchange(site).counts(), network.exchange_of(site).counts()) << site;
    EXPECT_EQ(sites[site].strangers().total(), 0u);
  }
}

TEST(TlsNetwork, BringsTwoSitesTheLettersOfOneProcess) { expect_same_as_in_one_process(2, 20, 1000); }
TEST(TlsNetwork, BringsFiveSitesTheLettersOfOneProcess) { expect_same_as_in_one_process(5, 10, 100'000); }

TEST(TlsNetwork, TellsWhatWasSentAndWhoIsThere) {
  Sites sites(2);
  sites.start_all();
  ASSERT_TRUE(eventually([&] { return sites.all_linked(); }));
  sites[1].tell({.round = 3, .phase = 1, .stage = 2, .progress = 40, .revision = 1});
  sites.exchange(1).begin({1, 0});
  sites.exchange(1).send(0, letter_of(500));
  ASSERT_TRUE(eventually([&] { return sites.view(0, 1).received_messages == 1; }));
  ASSERT_TRUE(eventually([&] {
    const auto view = sites.view(0, 1);
    return view.pulse && view.pulse->round == 3 && view.round_trip_seconds > 0;
  }));
  const auto view = sites.view(0, 1);
  EXPECT_EQ(view.pulse, (Pulse{.round = 3, .phase = 1, .stage = 2, .progress = 40, .revision = 1}));
  EXPECT_EQ(view.received_bytes, 500u);
  EXPECT_EQ(view.software, "test");
  EXPECT_TRUE(view.alive);
  EXPECT_EQ(view.trouble, "");
  EXPECT_EQ(sites.view(1, 0).sent_bytes, 500u);
}

// Both ways round: the older may dial or be dialled.
void expect_talk_at_version_1(ClientId old) {
  Sites sites(2);
  for (ClientId site = 0; site < 2; ++site)
    sites.start(site, [&](WireOptions& options) { options.newest_version = site == old ? 1 : 2; });
  const auto posts = exchange_all(exchanges_of(sites), 3, 1000);
  EXPECT_EQ(posts[0][2], *letter_from(1, 3, 1017));
  sites[0].tell({.round = 8, .progress = 5});
  sites[1].tell({.round = 8, .progress = 5});
  for (ClientId site = 0; site < 2; ++site) {
    ASSERT_TRUE(eventually([&] {
      const auto view = sites.view(site, 1 - site);
      return view.pulse && view.pulse->round == 8;
    }));
    EXPECT_EQ(sites.view(site, 1 - site).pulse->progress, 0u);  // version 1 does not say
    EXPECT_EQ(sites.view(site, 1 - site).round_trip_seconds, 0);
  }
}
TEST(TlsNetwork, SpeaksTheLowerVersionWithAnOlderSiteThatWasDialled) { expect_talk_at_version_1(0); }
TEST(TlsNetwork, SpeaksTheLowerVersionWithAnOlderSiteThatDials) { expect_talk_at_version_1(1); }

TEST(TlsNetwork, LosesNothingWhereALinkIsCutInTheMiddleOfALetter) {
  Sites sites(2);
  sites.start(0);
  Proxy proxy(sites.port(0));
  sites.members()[0].address = Sites::address_of(proxy.port());
  sites.start(1);
  ASSERT_TRUE(eventually([&] { return sites.all_linked(); }));
  constexpr std::uint64_t kRounds = 12;
  std::vector<Post> posts;
  std::thread cutter([&] {
    for (int i = 0; i < 3; ++i) {
      const auto reconnects = sites.view(1, 0).reconnects;
      proxy.cut_after(700'000);
      eventually([&] { return sites.view(1, 0).reconnects > reconnects; });
    }
  });
  posts = exchange_all(exchanges_of(sites), kRounds, 300'000);
  cutter.join();
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    EXPECT_EQ(posts[0][round - 1], *letter_from(1, round, 300'017)) << round;
    EXPECT_EQ(posts[1][round - 1], *letter_from(0, round, 300'000)) << round;
  }
  EXPECT_GE(sites.view(1, 0).reconnects, 3u);
}

TEST(TlsNetwork, BringsASiteThatIsStartedAgainTheLettersOfItsRoundAgain) {
  Sites sites(2);
  sites.start_all();
  const std::vector<ClientId> zero = {0};
  exchange_all(exchanges_of(sites), 3, 100);
  sites.exchange(0).begin({4, 0});
  sites.exchange(0).send(1, letter_from(0, 4, 100));
  sites.exchange(1).begin({4, 0});
  EXPECT_TRUE(sites.exchange(1).receive(zero, far_off())[0].arrived());
  sites.stop(1);  // as kill -9 does: without a word
  sites.start(1, [](WireOptions& options) { options.round = 4; });
  sites.exchange(1).begin({4, 0});
  const auto received = sites.exchange(1).receive(zero, far_off());
  ASSERT_TRUE(received[0].arrived());
  EXPECT_EQ(*received[0].message, *letter_from(0, 4, 100));
  EXPECT_EQ(sites.exchange(1).counts().late, 0u);  // nothing of earlier rounds
}

TEST(TlsNetwork, WaitsForNobodyWhoseHeartbeatsAreMissedUntilTheyComeAgain) {
  Sites sites(2);
  sites.start(0, [](WireOptions& options) { options.missed_heartbeats = 4; });
  Proxy proxy(sites.port(0));
  sites.members()[0].address = Sites::address_of(proxy.port());
  sites.start(1);
  ASSERT_TRUE(eventually([&] { return sites.all_linked(); }));
  proxy.stall(true, true);
  proxy.refuse(true);
  const std::vector<ClientId> one = {1};
  sites.exchange(0).begin({1, 0});
  // Without a heartbeat this returns long before its deadline.
  EXPECT_EQ(sites.exchange(0).receive(one, far_off())[0].absence, Absence::gone);
  EXPECT_FALSE(sites.view(0, 1).alive);
  EXPECT_TRUE(eventually([&] { return !sites.view(0, 1).linked; }));
  proxy.cut();
  proxy.stall(false, false);
  proxy.refuse(false);
  ASSERT_TRUE(eventually([&] { return sites.view(0, 1).alive; }));
  sites.exchange(1).begin({2, 0});
  sites.exchange(1).send(0, letter_of(10));
  sites.exchange(0).begin({2, 0});
  EXPECT_TRUE(eventually([&] { return sites.view(0, 1).received_messages == 1; }));
  EXPECT_TRUE(sites.exchange(0).receive(one, far_off())[0].arrived());
}

TEST(TlsNetwork, CountsNobodyAsGoneBeforeThatTimeHasPassedOnce) {
  Sites sites(2);
  sites.start(0);
  const std::vector<ClientId> one = {1};
  sites.exchange(0).begin({1, 0});
  EXPECT_EQ(sites.exchange(0).receive(one, Exchange::kNoWaiting)[0].absence, Absence::deadline);
}

TEST(TlsNetwork, KeepsOneLinkWhereBothDialAtOnce) {
  for (int attempt = 0; attempt < 5; ++attempt) {
    Sites sites(2);
    Proxy to_0, to_1;
    sites.members()[0].address = Sites::address_of(to_0.port());
    sites.members()[1].address = Sites::address_of(to_1.port());
    sites.options.limits.yield_seconds = 0;
    to_0.set_delay_ms(20);
    to_1.set_delay_ms(20);
    to_0.refuse(true);  // until both listen
    to_1.refuse(true);
    sites.start(0);
    sites.start(1);
    to_0.set_target(sites.port(0));
    to_1.set_target(sites.port(1));
    to_0.refuse(false);
    to_1.refuse(false);
    ASSERT_TRUE(eventually([&] { return sites.all_linked(); }));
    const auto posts = exchange_all(exchanges_of(sites), 3, 1000);
    EXPECT_EQ(posts[0][2], *letter_from(1, 3, 1017));
    EXPECT_EQ(posts[1][2], *letter_from(0, 3, 1000));
    EXPECT_TRUE(eventually([&] { return to_0.connections() + to_1.connections() == 1; }));
  }
}

TEST(TlsNetwork, SendsWhatWasTooEarlyAgainOnceItIsAwaited) {
  Sites sites(2);
  sites.start_all();
  sites.exchange(0).begin({9, 0});  // far ahead of the other, which may keep letters of one round more
  sites.exchange(0).send(1, letter_from(0, 9, 100));
  ASSERT_TRUE(eventually([&] { return sites[1].strangers().of("early_letter") == 1; }));
  sites.exchange(1).begin({9, 0});  // it jumps
  const std::vector<ClientId> zero = {0};
  EXPECT_TRUE(sites.exchange(1).receive(zero, far_off())[0].arrived());
}

TEST(TlsNetwork, LingersUntilItsLastLettersAreThereAndSaysThatItIsDone) {
  Sites sites(2);
  sites.start(0);
  sites.exchange(0).begin({1, 0});
  sites.exchange(0).send(1, letter_of(1'000'000));
  std::thread late([&] { sites.start(1); });
  sites[0].linger(far_off(), true);
  late.join();
  sites.stop(0);
  const std::vector<ClientId> zero = {0};
  sites.exchange(1).begin({1, 0});
  EXPECT_TRUE(sites.exchange(1).receive(zero, far_off())[0].arrived());
  sites.exchange(1).begin({2, 0});
  EXPECT_EQ(sites.exchange(1).receive(zero, far_off())[0].absence, Absence::gone);  // and is not waited for
}

TEST(TlsNetwork, LingersNoLongerThanItsDeadline) {
  Sites sites(2);
  sites.start(0);
  sites.exchange(0).begin({1, 0});
  sites.exchange(0).send(1, letter_of(10));
  sites[0].linger(std::chrono::steady_clock::now() + std::chrono::milliseconds(20), false);
}

TEST(TlsNetwork, ForgetsALinkWhoseOtherEndStopsReading) {
  Sites sites(2);
  sites.start(0);
  Proxy proxy(sites.port(0));
  sites.members()[0].address = Sites::address_of(proxy.port());
  sites.start(1, [](WireOptions& options) { options.missed_heartbeats = 8; });
  ASSERT_TRUE(eventually([&] { return sites.all_linked(); }));
  proxy.stall(true, false);  // site 1 hears heartbeats, but what it sends fills all buffers
  for (std::uint32_t phase = 0; phase < 16; ++phase) {
    sites.exchange(1).begin({1, phase});
    sites.exchange(1).send(0, letter_of(4 << 20));
  }
  EXPECT_TRUE(eventually([&] { return sites[1].strangers().of("slow_reader") > 0; }));
  proxy.stall(false, false);  // and all of them come over the next one
  EXPECT_TRUE(eventually([&] { return sites.view(0, 1).received_messages == 16; }));
}

TEST(TlsNetwork, IsWholeAgainAfterTheWayOutWasClosedAlone) {
  Sites sites(2);
  sites.start(0);
  Proxy proxy(sites.port(0));
  sites.members()[0].address = Sites::address_of(proxy.port());
  sites.start(1);
  ASSERT_TRUE(eventually([&] { return sites.all_linked(); }));
  proxy.half_close();
  ASSERT_TRUE(eventually([&] { return sites.view(0, 1).reconnects > 0 && sites.all_linked(); }));
  const auto posts = exchange_all(exchanges_of(sites), 2, 1000);
  EXPECT_EQ(posts[0][1], *letter_from(1, 2, 1017));
}

TEST(TlsNetwork, ProbesAMemberWithoutDisturbingIt) {
  Sites sites(3);
  sites.start(0);
  sites.start(1);
  ASSERT_TRUE(eventually([&] { return sites.linked(0, 1); }));
  const auto probe = probe_member(sites.options_of(1), sites.key(1), 0, 20);
  EXPECT_TRUE(probe.reached && probe.tls && probe.welcomed) << probe.trouble;
  EXPECT_EQ(probe.software, "test");
  EXPECT_EQ(probe.trouble, "");
  EXPECT_EQ(sites.view(0, 1).reconnects, 0u);
  auto older = sites.options_of(2);
  sites.start(2, [](WireOptions& options) { options.revision = 2; });
  const auto refused = probe_member(older, sites.key(2), 0, 20);
  EXPECT_TRUE(refused.welcomed);  // the probe itself is of revision 1, as site 0 is
  const auto from_old = probe_member(sites.options_of(0), sites.key(0), 2, 20);
  EXPECT_FALSE(from_old.welcomed);
  EXPECT_NE(from_old.trouble.find("revision 2"), std::string::npos) << from_old.trouble;
  EXPECT_EQ(from_old.revision, 2u);
}

TEST(TlsNetwork, SaysWhyAProbeFailed) {
  Sites sites(2);
  sites.start(0);
  auto options = sites.options_of(1);
  const auto stranger = PrivateKey::generate();
  options.members[0].key = stranger.fingerprint();  // not who answers there
  const auto other = probe_member(options, sites.key(1), 0, 20);
  EXPECT_TRUE(other.reached);
  EXPECT_FALSE(other.tls);
  EXPECT_NE(other.trouble.find("another key"), std::string::npos) << other.trouble;
  const auto unknown = probe_member(sites.options_of(1), stranger, 0, 20);
  EXPECT_TRUE(unknown.tls);
  EXPECT_FALSE(unknown.welcomed);
  EXPECT_NE(unknown.trouble.find("does not let us in"), std::string::npos) << unknown.trouble;
  const auto port = sites.port(0);
  sites.stop(0);
  const auto absent = probe_member(sites.options_of(1), sites.key(1), 0, 20);
  EXPECT_FALSE(absent.reached) << port;
  EXPECT_NE(absent.trouble.find("nobody answers"), std::string::npos) << absent.trouble;
}

TEST(TlsNetwork, RefusesOptionsThatDoNotHoldTogether) {
  Sites sites(2);
  const auto make = [&](const auto& change) {
    auto options = sites.options_of(0);
    change(options);
    TlsNetwork network(options, sites.key(0));
  };
  using test::expect_error;
  expect_error(ErrorCode::invalid_argument, "not among the members",
               [&] { make([](WireOptions& o) { o.self = 7; }); });
  expect_error(ErrorCode::invalid_argument, "two members",
               [&] { make([](WireOptions& o) { o.members[1].number = 0; }); });
  expect_error(ErrorCode::invalid_argument, "no address",
               [&] { make([](WireOptions& o) { o.members[1].address = "nowhere"; }); });
  expect_error(ErrorCode::invalid_argument, "not that of this member",
               [&] { make([](WireOptions& o) { o.members[0].key = {}; }); });
  expect_error(ErrorCode::unavailable, "cannot listen",
               [&] { make([](WireOptions& o) { o.listen = "192.0.2.1:1"; }); });
}

}  // namespace
}  // namespace dfrost

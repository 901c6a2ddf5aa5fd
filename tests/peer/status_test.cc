#include "peer/status.h"

#include <gtest/gtest.h>

#include "dfrost/error.h"
#include "peer/arrivals.h"

namespace dfrost {
namespace {

PeerStatus some_status() {
  PeerStatus status;
  status.name = "clinic-a";
  status.federation = "five";
  status.version = "1.0";
  status.rounds = 40;
  status.done = 6;
  status.round = 7;
  status.stage = "exchange";
  status.started = 1000;
  status.last_merge = 1100;
  status.usual_round_seconds = 30;
  status.stage_seconds = {{"train", 90.5}};
  status.strangers = {{"no certificate", 3}};
  MemberStatus other;
  other.number = 1;
  other.name = "a \"quoted\" name";
  other.alive = other.linked = true;
  other.round = 6;
  status.members = {other};
  return status;
}

TEST(PeerStatus, ComesBackFromItsFileAsItWas) {
  const auto status = some_status();
  EXPECT_EQ(to_json(status_from_json(to_json(status))), to_json(status));
}

TEST(PeerStatus, IsHealthyWhereItMergedLately) {
  auto status = some_status();
  EXPECT_EQ(health_of(status, true, 1110), Health::merging);
  EXPECT_EQ(health_of(status, true, 1189), Health::merging);  // three rounds of 30 s
  EXPECT_EQ(health_of(status, true, 1191), Health::waiting);
  EXPECT_EQ(health_of(status, false, 1110), Health::stopped);
  status.last_merge.reset();
  EXPECT_EQ(health_of(status, true, 1010), Health::starting);
  EXPECT_EQ(health_of(status, true, 1100), Health::waiting);
  status.done = 40;
  EXPECT_EQ(health_of(status, false, 9999), Health::done);
}

TEST(PeerStatus, IsWrittenForPrometheusWithItsLabelsEscaped) {
  const auto text = metrics_text(some_status());
  EXPECT_NE(text.find("\ndfrost_round 7\n"), std::string::npos);
  EXPECT_NE(text.find("dfrost_peer_up{peer=\"a \\\"quoted\\\" name\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("dfrost_stage_duration_seconds_total{stage=\"train\"} 90.5\n"), std::string::npos);
  EXPECT_NE(text.find("dfrost_last_merge_timestamp_seconds 1100\n"), std::string::npos);
}

TEST(Arrivals, ComeBackFromTheirFileAsTheyWere) {
  RoundArrivals arrivals{.round = 9, .jumped_from = 4, .adopted = 2};
  arrivals.phases.push_back({{1, 3}, {{5, "gone"}}});
  const auto json = to_json(arrivals);
  EXPECT_EQ(to_json(arrivals_from_json(json)), json);
  EXPECT_EQ(json["phases"][0]["missing"][0]["why"], "gone");
}

TEST(Arrivals, OfAPreparationAreThoseOfItsPhasesAsTheyWereDoneLast) {
  const auto line = [](std::size_t phase, std::vector<ClientId> heard) {
    RoundArrivals one{.first_phase = phase};
    one.phases.push_back({std::move(heard), {}});
    return arrivals_from_json(to_json(one));
  };
  RoundArrivals all;
  for (const auto& one : {line(0, {1}), line(1, {1, 2}), line(1, {2}), line(2, {3})}) add_phases(one, all);
  ASSERT_EQ(all.phases.size(), 3u);
  EXPECT_EQ(all.phases[1].arrived, std::vector<ClientId>{2});
  EXPECT_THROW(add_phases(line(4, {}), all), Error);  // nobody knows what came in the one before
}

}  // namespace
}  // namespace dfrost

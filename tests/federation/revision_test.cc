#include "federation/revision.h"

#include <gtest/gtest.h>

#include "federation/small_federation.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::expect_error;
using test::member_of;
using test::SmallFederation;

using Present = std::vector<bool>;

TEST(Revision, AddsAMemberWithTheNextNumberFromARoundOn) {
  const SmallFederation small(3);
  const PrivateKey fourth = PrivateKey::generate();
  const auto next = with_member(small.read_back(), member_of(fourth, "late", "127.0.0.1:9"), 5);
  EXPECT_EQ(next.revision, 2u);
  EXPECT_EQ(next.members.back().number, 3u);
  EXPECT_EQ(next.nodes_in(4), 3u);
  EXPECT_EQ(next.nodes_in(5), 4u);
  EXPECT_EQ(next.present_in(4), Present({true, true, true}));
  EXPECT_EQ(next.present_in(5), Present({true, true, true, true}));
}

TEST(Revision, KeepsTheNumberOfWhoLeftForever) {
  const SmallFederation small(3);
  const auto without = without_member(small.read_back(), "site-1", 4);
  EXPECT_EQ(without.nodes_in(4), 3u);
  EXPECT_EQ(without.present_in(3), Present({true, true, true}));
  EXPECT_EQ(without.present_in(4), Present({true, false, true}));
  const PrivateKey key = PrivateKey::generate();
  const auto again = with_member(without, member_of(key, "newcomer", "127.0.0.1:9"), 6);
  EXPECT_EQ(again.members.back().number, 3u);
  EXPECT_EQ(again.present_in(6), Present({true, false, true, true}));
  expect_error(ErrorCode::failed_precondition, "same key",
               [&] { with_member(without, member_of(small.keys[1], "other", "127.0.0.1:9"), 6); });
  expect_error(ErrorCode::failed_precondition, "same name",
               [&] { with_member(without, member_of(key, "site-1", "127.0.0.1:9"), 6); });
}

TEST(Revision, IsRefusedWhereItMakesNoSense) {
  const SmallFederation small(2);
  const auto first = small.read_back();
  const auto bad = ErrorCode::invalid_argument;
  expect_error(bad, "did you mean 'site-1'", [&] { without_member(first, "site1", 3); });
  expect_error(bad, "round 21 is none of the 20", [&] { without_member(first, "site-1", 21); });
  expect_error(bad, "round 0 is none", [&] { without_member(first, "site-1", 0); });
  const auto one_left = without_member(first, "site-1", 3);
  expect_error(bad, "no more from round 3 on already", [&] { without_member(one_left, "site-1", 4); });
  expect_error(ErrorCode::failed_precondition, "nobody takes part in round 5",
               [&] { without_member(one_left, "site-0", 5); });
  const auto later = with_member(first, member_of(PrivateKey::generate(), "late", "127.0.0.1:9"), 5);
  expect_error(bad, "cannot leave before", [&] { without_member(later, "late", 4); });
  // A graph of exactly three neighbours each does not exist among five.
  auto regular = test::small_experiment_of(4);
  regular.network.topology = {.kind = TopologyKind::regular, .degree = 3};
  SmallFederation four(4);
  four.federation.experiment = to_toml(portable_config(regular));
  EXPECT_THROW(with_member(four.read_back(), member_of(PrivateKey::generate(), "fifth", "127.0.0.1:9"), 2),
               Error);
}

TEST(Revision, NeedsAnAddressBetweenTheNewAndTheOld) {
  SmallFederation small(2);
  small.federation.members[0].address.clear();
  expect_error(ErrorCode::failed_precondition, "neither site-0 nor late",
               [&] { with_member(small.read_back(), member_of(PrivateKey::generate(), "late"), 5); });
}

TEST(Revision, IsKnownToFollowHoweverManyWereMissed) {
  const SmallFederation small(3);
  std::vector<Federation> line = {small.read_back()};
  for (int i = 0; i < 3; ++i) {
    const auto next = with_member(
        line.back(),
        member_of(PrivateKey::generate(), "late-" + std::to_string(i), "127.0.0.1:" + std::to_string(10 + i)),
        5);
    line.push_back(parse_federation(federation_text(next, small.founder)));
  }
  for (std::size_t i = 0; i < line.size(); ++i) {
    EXPECT_EQ(line[i].id().bytes, line[0].id().bytes);
    for (std::size_t j = 0; j < line.size(); ++j) {
      const auto expected = i == j ? Succession::same : i < j ? Succession::follows : Succession::older;
      EXPECT_EQ(succession(line[i], line[j]), expected) << i << " to " << j;
    }
  }
}

TEST(Revision, OfAnotherLineIsToldFromOneThatFollows) {
  const SmallFederation small(3);
  const auto sign = [&](const Federation& f) { return parse_federation(federation_text(f, small.founder)); };
  const auto first = small.read_back();
  const auto left = sign(without_member(first, "site-1", 4)),
             right = sign(without_member(first, "site-2", 4));
  EXPECT_EQ(succession(left, right), Succession::forked);
  EXPECT_EQ(succession(left, sign(without_member(right, "site-1", 5))), Succession::forked);
  EXPECT_EQ(succession(first, SmallFederation(3).read_back()), Succession::stranger);
  // The founder's key alone does not make it the same federation.
  auto other = small.federation;
  other.name = "other";
  EXPECT_EQ(succession(first, sign(other)), Succession::stranger);
  // Nor do the right hashes under another key.
  const PrivateKey thief = PrivateKey::generate();
  auto stolen = without_member(first, "site-1", 4);
  stolen.founder_key = thief.public_key();
  EXPECT_EQ(succession(first, parse_federation(federation_text(stolen, thief))), Succession::stranger);
}

TEST(Revision, IsMadeByTheFounderAlone) {
  const SmallFederation small(2);
  EXPECT_NO_THROW(require_founder(small.federation, small.founder));
  expect_error(ErrorCode::permission_denied, "only the founder",
               [&] { require_founder(small.federation, small.keys[0]); });
}

}  // namespace
}  // namespace dfrost

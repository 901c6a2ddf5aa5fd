// Hostile clients and what merges do about them, in whole rounds of the simulator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "config/configs.h"
#include "config/methods.h"
#include "merge/merge_kinds.h"
#include "network/message.h"
#include "records/record_json.h"
#include "run/attackers.h"
#include "run/forgery.h"
#include "run/poisoned_samples.h"
#include "run/small_simulation.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::make_simulation;
using test::state_after;

RunConfig hostile_config(AttackKind kind) {
  auto config = test::small_config();
  config.diagnostics.theory = false;
  config.attack = {.kind = kind, .clients = {1, 4}};
  return config;
}

std::vector<AttackKind> all_kinds() {
  std::vector<AttackKind> kinds;
  for (const auto& row : kAttackKinds)
    if (row.value != AttackKind::none) kinds.push_back(row.value);
  return kinds;
}

TEST(Attack, OfEveryKindIsReceivedAndChangesWhatHonestClientsLearn) {
  auto honest = test::small_config();
  honest.diagnostics.theory = false;
  auto reference = make_simulation(honest);
  for (int r = 0; r < 3; ++r) reference.run_round();
  EXPECT_EQ(all_kinds().size(), 12u);
  for (const AttackKind kind : all_kinds()) {
    auto federation = make_simulation(hostile_config(kind));
    for (int r = 0; r < 3; ++r) {
      const auto record = federation.run_round();
      EXPECT_EQ(record.refused_messages + record.missing_messages, 0u) << word_of(kAttackKinds, kind);
      ASSERT_TRUE(record.attack && record.attack->honest);
      EXPECT_EQ(record.attack->clients, (std::vector<ClientId>{1, 4}));
      EXPECT_GE(record.attack->mass, 0);
      EXPECT_TRUE(std::isfinite(record.attack->distance));
      EXPECT_EQ(record.attack->backdoor_success.has_value(), kind == AttackKind::backdoor);
    }
    EXPECT_NE(federation.nodes()[0].state.values, reference.nodes()[0].state.values)
        << word_of(kAttackKinds, kind);
  }
}

TEST(Attack, HasTheSameBytesOnAnyThreadsAndAfterAStop) {
  for (const AttackKind kind : all_kinds()) {
    auto config = hostile_config(kind);
    config.attack.from_round = 2;
    const auto expected = state_after(config, 3);
    config.run.threads = 4;
    auto first = make_simulation(config);
    first.run_round();
    first.run_round();
    auto resumed = make_simulation(config);
    resumed.restore(2, first.state());
    resumed.run_round();
    EXPECT_EQ(resumed.state(), expected) << word_of(kAttackKinds, kind);
  }
}

TEST(Attack, BeginsInItsFirstRoundAndWithNobodyHostileChangesNothing) {
  auto config = hostile_config(AttackKind::zero);
  const auto honest = state_after(test::small_config(), 2);
  config.attack.from_round = 3;
  EXPECT_EQ(state_after(config, 2).values, honest.values);
  config.attack = {.kind = AttackKind::zero, .share = 0.01};  // rounds to nobody
  EXPECT_EQ(state_after(config, 2), honest);
}

TEST(Attackers, AreAShareDrawnFromTheSeedOrThoseNamed) {
  const AttackSection share{.kind = AttackKind::noise, .share = 0.2};
  for (Seed seed = 0; seed < 20; ++seed) {
    const auto hostile = attackers_of(share, 50, seed);
    EXPECT_EQ(std::ranges::count(hostile, true), 10);
    EXPECT_EQ(hostile, attackers_of(share, 50, seed));
  }
  EXPECT_NE(attackers_of(share, 50, 1), attackers_of(share, 50, 2));
  EXPECT_EQ(attackers_of({.kind = AttackKind::noise, .clients = {2}}, 4, 1),
            (std::vector<bool>{false, false, true, false}));
  EXPECT_EQ(std::ranges::count(attackers_of({.kind = AttackKind::none}, 9, 1), true), 0);
}

// Two prompts of two numbers and a head of one, as an attacker sees them.
NodeTensors letter(std::vector<float> prompts, float head) {
  return {{std::string(kPromptPart), {{2, 2}, std::move(prompts)}}, {"head.0.weight", {{1}, {head}}}};
}

AttackerSight small_sight() {
  return {.own = letter({1, 1, 5, 5}, 3),
          .before = letter({0, 1, 5, 4}, 1),
          .began = letter({0, 0, 4, 4}, 0),
          .seen = {{2, letter({6, 6, 1, 1}, 2)}, {7, letter({2, 2, 7, 7}, 8)}},
          .most_prompts = 4};
}

float head_of(const NodeTensors& tensors) { return tensors.find("head.0.weight")->second.values[0]; }
const std::vector<float>& prompts_of(const NodeTensors& tensors) {
  return tensors.find(kPromptPart)->second.values;
}
NodeTensors forged(AttackKind kind, double strength) {
  return forge(kind, small_sight(), strength, RandomStream(1, "attack"));
}

TEST(Forgery, IsWhatItsKindSays) {
  const auto flipped = forged(AttackKind::sign_flip, 2);
  EXPECT_EQ(head_of(flipped), 1 - 2 * (3 - 1));
  EXPECT_EQ(prompts_of(flipped), (std::vector<float>{-2, 1, 5, 2}));
  // Updates: its own 3 − 1, its neighbours' 2 − 0 and 8 − 0: mean 4, deviation √8.
  EXPECT_FLOAT_EQ(head_of(forged(AttackKind::inner_product, 0.5)), 1 - 0.5f * 4);
  EXPECT_FLOAT_EQ(head_of(forged(AttackKind::little_is_enough, 1)), 1 + 4 - std::sqrt(8.0f));
  // The first neighbour's prompts stand the other way round: (1, 1) and (6, 6) are its (0, 1) and (5, 5).
  const auto against = forged(AttackKind::inner_product, 1);
  EXPECT_FLOAT_EQ(prompts_of(against)[0], 0 - (1 + 1 + 2) / 3.0f);
  EXPECT_EQ(prompts_of(forged(AttackKind::mimic, 1)), (std::vector<float>{6, 6, 1, 1}));  // both as odd
  EXPECT_EQ(head_of(forged(AttackKind::zero, 1)), 0);
  EXPECT_EQ(prompts_of(forged(AttackKind::crowd, 1)), (std::vector<float>{1, 1, 1, 1, 1, 1, 1, 1}));
  const auto far = forged(AttackKind::far_prompts, 100);
  EXPECT_GT(std::hypot(prompts_of(far)[0], prompts_of(far)[1]), 100);
  EXPECT_EQ(prompts_of(far)[2], 5);
  // Away from the mean of the attacker's own and the other's: 2 + (2 − (3 + 8)/2).
  EXPECT_FLOAT_EQ(head_of(forge_dissensus(small_sight(), 0, 1)), 2 + (2 - 5.5f));
}

TEST(Forgery, CanAlwaysBeSent) {
  for (const AttackKind kind : all_kinds())
    for (const auto& [name, tensor] : forged(kind, 1e30))
      EXPECT_TRUE(may_be_sent(tensor.values)) << word_of(kAttackKinds, kind) << " " << name;
}

TEST(PoisonedSamples, FlipLabelsWithinTheirDomainAndMarkTheLastPatch) {
  const auto corpus = test::coloured_squares(2, 1);
  Preprocessing how;
  how.resize = how.crop = test::tiny_backbone().geometry().image_size;
  const CorpusSamples honest(corpus, corpus.train, test::tiny_backbone(), how, 1 << 20);
  const FlippedLabels flipped(honest);
  EXPECT_EQ(flipped.label(0), 2u);   // 0 of 0 … 2
  EXPECT_EQ(flipped.label(6), 5u);   // 3 of 3 … 5
  EXPECT_EQ(flipped.label(10), 3u);  // 5
  const MarkedPictures marked(honest, test::tiny_backbone(), 4, MarkedPictures::Which::every_second);
  EXPECT_EQ(marked.label(0), 1u);  // the fifth of three classes is the second
  EXPECT_EQ(marked.label(6), 4u);
  EXPECT_EQ(marked.label(1), honest.label(1));
  const Geometry& g = test::tiny_backbone().geometry();
  std::vector<float> before(g.patches() * g.width), after(before), other(before);
  honest.write_patches(0, before);
  marked.write_patches(0, after);
  marked.write_patches(6, other);
  const auto last = static_cast<std::ptrdiff_t>((g.patches() - 1) * g.width);
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + last, after.begin()));
  EXPECT_FALSE(std::equal(before.begin() + last, before.end(), after.begin() + last));
  EXPECT_TRUE(std::equal(after.begin() + last, after.end(), other.begin() + last));
}

TEST(Defence, WithLooseLimitsIsThePlainMergeToTheLastBit) {
  for (const std::string_view head : {"average", "class-mass"}) {
    for (const std::string_view kind : {"ot", "barycenter", "average"}) {
      auto plain = test::small_config();
      plain.diagnostics.theory = false;
      plain.merge.kind = parse_choice(kMergeKinds, "kind", kind);
      if (head == "class-mass") plain.merge.head = HeadMerge::class_mass;
      auto loose = plain;
      loose.merge.defence = {
          .reject = 1e6, .head_clip = {.radius = 1e6}, .head_median = 1e6, .mass_cap = 1e6};
      if (kind != "average") loose.merge.defence.clip.radius = 1e6;
      if (kind == "ot") loose.merge.median = 1e6;
      EXPECT_EQ(state_after(loose, 2), state_after(plain, 2)) << kind << ", " << head;
    }
  }
}

double honest_distance(const RunConfig& config) {
  auto federation = make_simulation(config);
  federation.run_round();
  return federation.run_round().attack->distance;
}

TEST(Defence, KeepsHonestPromptsNearWhereFarOnesWouldDragThem) {
  auto config = hostile_config(AttackKind::far_prompts);
  config.network.topology.kind = TopologyKind::full;
  const double undefended = honest_distance(config);
  const auto defended = [&](const auto& set) {
    auto with = config;
    set(with.merge);
    with.validate();
    return honest_distance(with);
  };
  EXPECT_LT(defended([](MergeSection& m) { m.defence.reject = 2; }), 0.05 * undefended);
  EXPECT_LT(defended([](MergeSection& m) { m.defence.clip.share = 0.4; }), 0.05 * undefended);
  EXPECT_LT(defended([](MergeSection& m) { m.trim = 0.4; }), 0.05 * undefended);
  EXPECT_LT(defended([](MergeSection& m) { m.median = 1; }), 0.05 * undefended);
}

TEST(Defence, RecordsWhomItDoubtedAndWhatTheyGot) {
  auto config = hostile_config(AttackKind::far_prompts);
  config.network.topology.kind = TopologyKind::full;
  config.merge.defence.reject = 3;
  config.merge.defence.head_nearest = 0.2;
  auto federation = make_simulation(config);
  const auto record = federation.run_round();
  ASSERT_TRUE(record.defence && record.attack);
  EXPECT_EQ(record.attack->mass, 0);
  for (const auto& doubt : record.defence->rejected)
    EXPECT_TRUE(doubt.sender == 1 || doubt.sender == 4) << doubt.client;
  EXPECT_GE(record.defence->rejected.size(), 8u);  // of each honest client's two hostile neighbours both
  EXPECT_EQ(record.defence->skipped_heads.size(), 6u);
  const auto json = to_json(record);
  EXPECT_EQ(json["defence"]["rejected"], record.defence->rejected.size());
  EXPECT_EQ(json["defence"]["doubted"]["rejected"].size(), record.defence->rejected.size());
  EXPECT_EQ(json["attack"]["clients"], nlohmann::ordered_json({1, 4}));
  EXPECT_TRUE(json["attack"]["honest_accuracy_masked"]["min"].is_number());
}

TEST(Defence, MovesSetsOfAnySizeAndHeadsByClass) {
  auto config = hostile_config(AttackKind::crowd);
  config.prompts.counts = {4, 3, 6};
  config.merge.head = HeadMerge::class_mass;
  config.merge.trim = 0.2;
  config.merge.defence = {
      .clip = {.share = 0.5}, .head_clip = {.share = 0.5}, .head_trim = 0.2, .mass_cap = 5};
  config.validate();
  const auto expected = state_after(config, 3);
  config.run.threads = 3;
  EXPECT_EQ(state_after(config, 3), expected);
}

TEST(Hostile, SettingsThatDoNotFitAreRefusedWithTheReason) {
  const auto refused = [](const std::vector<std::string>& overrides, const std::string& why) {
    test::expect_error(ErrorCode::invalid_argument, why, [&] { test::parse("", overrides).validate(); });
  };
  refused({"attack.kind=zero", "method.name=d2"}, "corrected after it was mixed");
  refused({"attack.kind=zero", "method.cooperation=none"}, "there are none");
  refused({"attack.kind=zero", "merge.pool=pass-on"}, "grow");
  refused({"attack.kind=zero", "attack.clients=[99]"}, "there is no client 99");
  refused({"attack.kind=zero", "attack.clients=[1, 1]"}, "twice");
  refused({"attack.kind=burn"}, "attack.kind");
  refused({"defence.reject=0.5"}, "nearer to the rest");
  refused({"defence.trim=0.1", "merge.kind=average"}, "no mass to leave out");
  refused({"defence.clip=1.0", "merge.kind=average"}, "averaged by index");
  refused({"defence.head_trim=0.1", "defence.head_median=1.0"}, "not both");
  refused({"defence.head_trim=0.1", "merge.head=own"}, "no head of another");
  refused({"defence.trim=0.1", "method.name=dgd", "merge.kind=ot"}, "defences are for");
}

}  // namespace
}  // namespace dfrost

// One client's round over an exchange that brings whatever a test wants: what is not believed is counted, and
// the merge goes on with the rest.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>

#include "network/mailbox.h"
#include "run/mailbox_rules.h"
#include "run/small_simulation.h"
#include "run/state_merge.h"
#include "run/update_phase.h"

namespace dfrost {
namespace {

constexpr std::uint64_t kRound = 7;

// Brings the messages that were put into it, and nothing else.
class ScriptedExchange final : public Exchange {
 public:
  ClientId self() const override { return 0; }
  void begin(Moment) override {}
  void send(ClientId, SharedBytes) override {}
  std::vector<Received> receive(std::span<const ClientId> peers, Deadline) override {
    std::vector<Received> received;
    for (const ClientId peer : peers)
      received.push_back({peer, messages[peer], messages[peer] ? Absence::none : Absence::gone});
    return received;
  }
  std::vector<ClientId> wait(std::span<const ClientId>, Deadline) override { return {}; }
  ExchangeCounts counts() const override { return {}; }

  std::map<ClientId, SharedBytes> messages;  // null: missing
};

SharedBytes message_of(ClientId sender, std::uint64_t round, const ClientState& state) {
  const Envelope envelope{.sender = sender, .moment = {.round = round}};
  return std::make_shared<const std::vector<std::byte>>(encode_message(envelope, tensors_of(state)));
}

// Client 0 has a link to each of the others.
RoundPlan star_of(std::size_t clients) {
  std::vector<Edge> edges;
  for (ClientId other = 1; other < clients; ++other) edges.push_back({0, other});
  return {.round = kRound, .mixing = MixingMatrix(Graph(clients, std::move(edges))), .clients = clients};
}

struct ClientRound : testing::Test {
  RunConfig config = test::small_config();
  Node client = test::make_simulation(config).nodes().front();
  ScriptedExchange exchange;

  Inbox receive(std::size_t clients) {
    const UpdatePhase phase(config.train, config.merge, config.run.seed);
    return receive_letters(client, phase, star_of(clients), {.moment = {.round = kRound}},
                           Exchange::kNoWaiting, exchange);
  }
  MergeOutcome receive_and_merge(std::size_t clients) {
    return merge_states(client, receive(clients), config.merge, config.run.seed, star_of(clients));
  }
};

TEST_F(ClientRound, RefusesAndCountsWhatItCannotBelieve) {
  auto not_a_number = client.state;
  not_a_number.prompts()(1, 2) = std::numeric_limits<float>::quiet_NaN();
  const auto wrong_shape = make_client_state({.prompts = {.count = 4}, .head = {.classes = 5}},
                                             test::tiny_backbone().geometry(), 3, 0);
  exchange.messages = {{1, message_of(1, kRound, not_a_number)},
                       {2, message_of(2, kRound, wrong_shape)},
                       {3, message_of(3, kRound - 1, client.state)},
                       {4, message_of(3, kRound, client.state)},
                       {5, nullptr},
                       {6, message_of(6, kRound, client.state)}};
  const auto inbox = receive(7);
  ASSERT_EQ(inbox.refused.size(), 4u);
  EXPECT_EQ(inbox.refused[0].reason, RefusalReason::not_finite);
  EXPECT_EQ(inbox.refused[1].reason, RefusalReason::shape);
  EXPECT_EQ(inbox.refused[2].reason, RefusalReason::round);
  EXPECT_EQ(inbox.refused[3].reason, RefusalReason::sender);
  ASSERT_EQ(inbox.missing.size(), 1u);
  EXPECT_EQ(inbox.missing[0].sender, 5u);
  EXPECT_EQ(inbox.missing[0].why, Absence::gone);
  ASSERT_EQ(inbox.messages.size(), 1u);
  EXPECT_EQ(inbox.messages[0].sender(), 6u);
  // What the others would have weighed falls to the client itself: a row of the matrix still sums to one.
  EXPECT_NEAR(inbox.weights[0], 1.0 / 7, 1e-15);
  EXPECT_NEAR(inbox.self_weight, 6.0 / 7, 1e-15);
}

TEST_F(ClientRound, BelievesNoMorePromptsThanTheExperimentGivesAnybody) {
  const auto state_of = [&](std::size_t prompts) {
    return make_client_state({.prompts = {.count = prompts}, .head = client.adapter.head},
                             test::tiny_backbone().geometry(), 4, 1);
  };
  exchange.messages = {{1, message_of(1, kRound, state_of(4))},
                       {2, message_of(2, kRound, state_of(5))},
                       {3, message_of(3, kRound, state_of(80'000))}};
  const auto inbox = receive(4);
  EXPECT_EQ(inbox.messages.size(), 1u);
  ASSERT_EQ(inbox.refused.size(), 2u);
  EXPECT_EQ(inbox.refused[0].reason, RefusalReason::shape);
  EXPECT_EQ(inbox.refused[1].reason, RefusalReason::too_large);
}

TEST(MostPrompts, IsTheLargestBudgetOfTheRunOrItsPool) {
  auto config = test::small_config();
  config.prompts.counts = {4, 2, 7};
  const auto simulation = test::make_simulation(config);
  for (const auto& node : simulation.nodes()) EXPECT_EQ(node.most_prompts, 7u);
  config.prompts.pool = 9;
  const auto pools = test::make_simulation(config);
  for (const auto& node : pools.nodes()) EXPECT_EQ(node.most_prompts, 9u);
}

TEST(MailboxRules, KeepNoMessageThatNoNeighbourOfTheRoundWouldSend) {
  const auto config = test::small_config();
  const auto method = make_method(config);
  const RoundPlanner planner(method.network, 6, config.run.seed);
  const auto simulation = test::make_simulation(config);
  auto options = mailbox_options(method, planner.rounds_ahead(), simulation.nodes());
  const auto own = encode_message({}, tensors_of(simulation.nodes().front().state));
  EXPECT_GE(options.message_limit_bytes, own.size());
  EXPECT_LT(options.message_limit_bytes, 2 * own.size() + 10'000);
  options.admits = neighbours_of([&](std::uint64_t round) { return planner.network(round).graph; }, 4, 2);
  Mailbox mailbox(6, options);
  mailbox.begin({1, 0});
  const auto letter = std::make_shared<const std::vector<std::byte>>(own);
  for (ClientId sender = 0; sender < 6; ++sender) {
    for (std::uint64_t round = 1; round <= 2; ++round) mailbox.deliver(sender, {round, 0}, letter);
  }
  EXPECT_EQ(letter.use_count(), 1 + 2 + 2);  // a ring: two neighbours in each round
  const auto plan = planner.plan(1);
  const auto neighbours = plan.mixing.graph().neighbours(2);
  for (const auto& received : mailbox.receive({neighbours.begin(), neighbours.end()}, Exchange::kNoWaiting))
    EXPECT_TRUE(received.arrived());
}

// Neighbours bring poison in the first round, values as large as may be believed; in the second, training
// diverges.
class Poisoned final : public Phase {
 public:
  explicit Poisoned(const RunConfig& config)
      : update_(config.train, config.merge, config.run.seed), leap_(leaping(config)) {}
  std::string_view work_stage() const override { return "train"; }
  std::string_view absorb_stage() const override { return "merge"; }
  void work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const override {
    (plan.round == 2 ? leap_ : update_).work(node, plan, place, report);
  }
  std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const override {
    sent[plan.round][node.id] = node.state.values;
    return update_.letters(node, plan);
  }
  std::vector<TensorPattern> expected(const Node& node) const override { return update_.expected(node); }
  void absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const override {
    Inbox poisoned = inbox;
    if (plan.round == 1) {
      for (auto& message : poisoned.messages) {
        auto& [shape, head] = message.tensors.find("head.0.weight")->second;
        for (std::size_t i = 0; i < head.size(); ++i)  // each class another way, so that it has a gradient
          head[i] = i / shape[1] % 2 == i % 2 ? kLargestValue : -kLargestValue;
      }
    }
    update_.absorb(node, poisoned, plan, report);
  }

  mutable std::map<std::uint64_t, std::map<ClientId, std::vector<float>>> sent;

 private:
  // No state survives a step of this length.
  static UpdatePhase leaping(RunConfig config) {
    config.train.optimizer.learning_rate = 1e38;
    return {config.train, config.merge, config.run.seed};
  }

  UpdatePhase update_;
  UpdatePhase leap_;
};

TEST(Simulation, AClientThatDivergesGoesBackToWhatItHadBeforeItsLastMerge) {
  auto config = test::small_config();
  config.merge.kind = MergeKind::average;
  config.train.optimizer = {.kind = OptimizerKind::sgd, .learning_rate = 0.01};
  const auto make = [&](const Poisoned*& phase) {
    Method method = make_method(config);
    auto poisoned = std::make_unique<Poisoned>(config);
    phase = poisoned.get();
    method.phases.front() = std::move(poisoned);
    Preprocessing how;
    how.resize = how.crop = test::tiny_backbone().geometry().image_size;
    return std::make_unique<Simulation>(config, std::move(method), test::tiny_backbone(), how,
                                        test::coloured_squares(12, 4));
  };
  const Poisoned* phase = nullptr;
  const auto whole = make(phase);
  EXPECT_EQ(whole->run_round().diverged_clients, 0u);
  const auto saved = whole->state();
  EXPECT_EQ(whole->run_round().diverged_clients, 6u);
  EXPECT_EQ(phase->sent[2], phase->sent[1]);  // from before the poison
  EXPECT_EQ(whole->run_round().diverged_clients, 0u);
  const Poisoned* other = nullptr;
  const auto resumed = make(other);
  resumed->restore(1, saved);
  resumed->run_round();
  resumed->run_round();
  EXPECT_EQ(resumed->state(), whole->state());
}

TEST_F(ClientRound, KeepsItsStateWhenNothingCanBeBelieved) {
  exchange.messages = {{1, message_of(1, kRound + 1, client.state)}, {2, nullptr}};
  const auto before = client.state.values;
  const auto report = receive_and_merge(3);
  EXPECT_FALSE(report.merged);
  EXPECT_EQ(client.state.values, before);
}

TEST_F(ClientRound, AveragesByTheMixingWeightsOfWhoArrived) {
  config.merge.kind = MergeKind::average;
  auto other = client.state;
  for (float& value : other.values) value += 1;
  exchange.messages = {{1, message_of(1, kRound, other)}, {2, nullptr}};
  const auto before = client.state.values;
  receive_and_merge(3);  // a star of three: each link weighs 1/3
  for (std::size_t i = 0; i < before.size(); ++i)
    ASSERT_NEAR(client.state.values[i], before[i] + 1.0f / 3, 1e-6);
}

TEST_F(ClientRound, SaysHowFarTheMergedPromptsAreFromThoseThatWereMerged) {
  config.merge.kind = MergeKind::average;
  auto other = client.state;
  for (float& value : other.values) value += 0.01f;
  exchange.messages = {{1, message_of(1, kRound, other)}};
  const auto report = receive_and_merge(2);
  // Every prompt of either set lies half the shift from the mean, in each of its coordinates.
  const auto width = static_cast<double>(client.state.prompts().cols());
  EXPECT_NEAR(report.error, width * 0.005 * 0.005, 1e-3 * width * 0.005 * 0.005);
}

TEST_F(ClientRound, MergesSetsOfOtherSizesAndKeepsItsOwnNumber) {
  auto larger = make_client_state({.prompts = {.count = 9}, .head = client.adapter.head},
                                  test::tiny_backbone().geometry(), 4, 1);
  auto single = make_client_state({.prompts = {.count = 1}, .head = client.adapter.head},
                                  test::tiny_backbone().geometry(), 5, 2);
  client.most_prompts = 9;
  exchange.messages = {{1, message_of(1, kRound, larger)}, {2, message_of(2, kRound, single)}};
  const auto report = receive_and_merge(3);
  EXPECT_TRUE(report.merged);
  EXPECT_TRUE(report.theorem.held);
  EXPECT_EQ(client.state.prompts().rows(), 4u);
}

}  // namespace
}  // namespace dfrost

// Methods that no setting names, each a few lines, to show what a round can be made of: a server in the
// middle of a star, two exchanges in one round, prompt sets that grow. All run in the simulator as the
// built-in ones do.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>

#include "config/methods.h"
#include "run/simulation.h"
#include "run/small_simulation.h"
#include "run/state_merge.h"

namespace dfrost {
namespace {

Simulation simulate(const RunConfig& config, Method method) {
  Preprocessing how;
  how.resize = how.crop = test::tiny_backbone().geometry().image_size;
  return {config, std::move(method), test::tiny_backbone(), how, test::coloured_squares(4, 2)};
}

// A phase that does nothing, to be changed in one place.
class QuietPhase : public Phase {
 public:
  std::string_view work_stage() const override { return "train"; }
  std::string_view absorb_stage() const override { return "merge"; }
  void work(Node&, const RoundPlan&, Workplace, NodeReport&) const override {}
  std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const override {
    return letters_of_state(node, plan);
  }
  std::vector<TensorPattern> expected(const Node& node) const override { return patterns_of_state(node); }
  void absorb(Node&, const Inbox&, const RoundPlan&, NodeReport&) const override {}
};

// The server's state goes down to the clients, which take it over.
class Broadcast final : public QuietPhase {
 public:
  bool speaks(NodeRole role) const override { return role == NodeRole::server; }
  void absorb(Node& node, const Inbox& inbox, const RoundPlan&, NodeReport&) const override {
    if (node.role == NodeRole::server) return;
    for (const auto& message : inbox.messages)
      for (const auto& [name, tensor] : message.tensors)
        std::ranges::copy(tensor.values, node.state.part(name).data());
  }
};

// Clients add one more than their number to all they hold, and send it up; the server takes the mean.
class Collect final : public QuietPhase {
 public:
  bool speaks(NodeRole role) const override { return role == NodeRole::client; }
  void work(Node& node, const RoundPlan&, Workplace place, NodeReport&) const override {
    EXPECT_EQ(place.samples == nullptr, node.role == NodeRole::server);
    if (node.role == NodeRole::server) return;
    for (float& value : node.state.values) value += static_cast<float>(node.id + 1);
  }
  void absorb(Node& node, const Inbox& inbox, const RoundPlan&, NodeReport&) const override {
    if (node.role == NodeRole::client) {
      EXPECT_TRUE(inbox.messages.empty());
      return;
    }
    for (const auto& part : node.state.layout.parts()) {
      auto own = node.state.part(part.name);
      for (std::size_t i = 0; i < part.size; ++i) {
        double sum = 0;
        for (const auto& message : inbox.messages)
          sum += static_cast<double>(message.tensors.find(part.name)->second.values[i]);
        own.data()[i] = static_cast<float>(sum / static_cast<double>(inbox.messages.size()));
      }
    }
  }
};

Method server_method(const FaultOptions& faults = {}) {
  Method method;
  method.phases.push_back(std::make_unique<Broadcast>());
  method.phases.push_back(std::make_unique<Collect>());
  method.network = {.gathering = Gathering::star, .topology = {}, .faults = faults};
  return method;
}

TEST(Seam, AServerIsANodeWithoutDataInAStar) {
  const auto config = test::small_config();
  auto simulation = simulate(config, server_method());
  ASSERT_EQ(simulation.nodes().size(), 7u);  // six clients and it
  ASSERT_EQ(simulation.clients().size(), 6u);
  const auto first = simulation.nodes().back().state.values;
  const auto record = simulation.run_round();
  EXPECT_EQ(record.edges, 6u);
  EXPECT_EQ(record.sent_messages, 12u);  // down and up
  EXPECT_EQ(record.missing_messages + record.refused_messages, 0u);
  const auto& server = simulation.nodes().back();
  EXPECT_EQ(server.role, NodeRole::server);
  for (std::size_t i = 0; i < first.size(); ++i)
    ASSERT_NEAR(server.state.values[i], first[i] + 3.5f, 1e-5f);  // the mean of 1 … 6
}

TEST(Seam, AServerHearsOnlyThoseThatTakePart) {
  const auto config = test::small_config();
  auto simulation = simulate(config, server_method({.active_clients = 2}));
  const auto before = simulation.state();
  const auto record = simulation.run_round();
  EXPECT_EQ(record.edges, 2u);
  EXPECT_EQ(record.absent_clients, 4u);
  EXPECT_EQ(record.sent_messages, 4u);
  std::size_t changed = 0;
  const auto untouched = simulate(config, server_method());
  for (const auto& client : simulation.clients())
    changed += client.state.values != untouched.nodes()[client.id].state.values ? 1 : 0;
  EXPECT_EQ(changed, 2u);
}

// Asks with its number in the first exchange, answers each with the sum of both in the second.
class Ask final : public QuietPhase {
 public:
  std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const override {
    const auto neighbours = plan.mixing.graph().neighbours(node.id);
    return {{{neighbours.begin(), neighbours.end()},
             {{"number", {1}, node.memory.find("number")->second.values}}}};
  }
  void work(Node& node, const RoundPlan&, Workplace, NodeReport&) const override {
    node.memory["number"] = {{1}, {static_cast<float>(node.id)}};
  }
  std::vector<TensorPattern> expected(const Node&) const override { return {{"number", {1}}}; }
  void absorb(Node& node, const Inbox& inbox, const RoundPlan&, NodeReport&) const override {
    for (const auto& message : inbox.messages)
      node.draft[fmt::format("answer to {}", message.sender())] = {
          {1}, {message.tensors.find("number")->second.values[0] + static_cast<float>(node.id)}};
  }
};

class Answer final : public QuietPhase {
 public:
  std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const override {
    std::vector<Letter> letters;  // to each its own
    for (const ClientId peer : plan.mixing.graph().neighbours(node.id))
      letters.push_back(
          {{peer}, {{"sum", {1}, node.draft.find(fmt::format("answer to {}", peer))->second.values}}});
    return letters;
  }
  std::vector<TensorPattern> expected(const Node&) const override { return {{"sum", {1}}}; }
  void absorb(Node& node, const Inbox& inbox, const RoundPlan&, NodeReport&) const override {
    EXPECT_EQ(inbox.messages.size(), 2u);
    for (const auto& message : inbox.messages)
      EXPECT_EQ(message.tensors.find("sum")->second.values[0],
                static_cast<float>(node.id + message.sender()));
  }
};

TEST(Seam, ARoundMayExchangeTwiceAndTellEachNeighbourSomethingElse) {
  const auto config = test::small_config();
  Method method;
  method.phases.push_back(std::make_unique<Ask>());
  method.phases.push_back(std::make_unique<Answer>());
  method.network.topology = config.network.topology;  // a ring
  auto simulation = simulate(config, std::move(method));
  const auto record = simulation.run_round();
  EXPECT_EQ(record.sent_messages, 24u);
  EXPECT_EQ(record.missing_messages + record.refused_messages, 0u);
  for (const auto& node : simulation.nodes()) {
    EXPECT_TRUE(node.draft.empty());  // gone with the round
    EXPECT_EQ(node.memory.size(), 1u);
  }
}

// Takes the neighbours' prompts in beside its own.
class Grow final : public QuietPhase {
 public:
  void absorb(Node& node, const Inbox& inbox, const RoundPlan&, NodeReport&) const override {
    for (const auto& message : inbox.messages) {
      const auto& theirs = message.tensors.find(kPromptPart)->second;
      const std::size_t held = node.state.prompts().rows();
      resize_prompts(held + theirs.shape.front(), node.adapter, node.state);
      std::ranges::copy(theirs.values, node.state.prompts().row(held).begin());
    }
  }
};

TEST(Seam, PromptSetsMayGrowAndAreSavedAtTheSizeTheyHave) {
  const auto config = test::small_config();
  const auto growing = [&] {
    Method method;
    method.phases.push_back(std::make_unique<Grow>());
    method.prompt_growth = 27;  // after three rounds
    method.network.topology = config.network.topology;
    return simulate(config, std::move(method));
  };
  auto simulation = growing();
  for (const std::size_t expected : {12, 36}) {  // three times as many each round on a ring
    simulation.run_round();
    for (const auto& client : simulation.clients()) EXPECT_EQ(client.state.prompts().rows(), expected);
  }
  auto restored = growing();
  restored.restore(2, simulation.state());
  EXPECT_EQ(restored.state(), simulation.state());
  restored.run_round();
  simulation.run_round();
  EXPECT_EQ(restored.state(), simulation.state());
}

TEST(Seam, WhatANodeRemembersGoesOnAfterAStop) {
  auto config = test::small_config();
  apply_method(config, "d2");
  config.train.optimizer.learning_rate = 0.1;
  auto whole = test::make_simulation(config), stopped = test::make_simulation(config);
  for (int round = 0; round < 3; ++round) whole.run_round();
  stopped.run_round();
  stopped.run_round();
  const auto saved = stopped.state();
  EXPECT_EQ(saved.memory.size(), 2 * saved.values.size());  // the last state and gradient of each
  auto resumed = test::make_simulation(config);
  resumed.restore(2, saved);
  resumed.run_round();
  EXPECT_EQ(resumed.state(), whole.state());
}

}  // namespace
}  // namespace dfrost

// Class-mass merging: what it conserves, where it converges to, and what it is where nothing tells classes
// apart.
#include "run/class_mass.h"

#include <gtest/gtest.h>

#include <cmath>

#include "network/mixing.h"
#include "network/topology.h"
#include "run/small_simulation.h"
#include "run/state_merge.h"

namespace dfrost {
namespace {

// The letters of all neighbours of a node, as they would arrive.
Inbox inbox_of(const std::vector<Node>& nodes, const MixingMatrix& mixing, ClientId u) {
  Inbox inbox;
  inbox.self_weight = mixing.self_weight(u);
  const auto neighbours = mixing.graph().neighbours(u);
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    const Node& sender = nodes[neighbours[i]];
    Message message{.envelope = {.sender = sender.id}, .tensors = {}};
    for (const auto& tensor : tensors_of(sender.state))
      message.tensors[tensor.name] = {tensor.shape, {tensor.values.begin(), tensor.values.end()}};
    if (const auto mass = sender.memory.find(kMass); mass != sender.memory.end())
      message.tensors[std::string(kMass)] = {mass->second.shape, mass->second.values};
    inbox.messages.push_back(std::move(message));
    inbox.weights.push_back(mixing.neighbour_weights(u)[i]);
  }
  return inbox;
}

void exchange_once(std::vector<Node>& nodes, const MixingMatrix& mixing, const MassOptions& options) {
  const auto before = nodes;
  for (Node& node : nodes) merge_class_rows(node, inbox_of(before, mixing, node.id), options);
}

std::vector<float>& mass_of(Node& node) { return node.memory.find(kMass)->second.values; }

// Six clients with random heads and random masses, half of which are zero.
std::vector<Node> random_nodes(Seed seed) {
  auto config = test::small_config();
  config.head.kind = seed % 2 == 0 ? HeadKind::linear : HeadKind::mlp;
  config.head.hidden = {5};
  const auto simulation = test::make_simulation(config);
  auto nodes = simulation.nodes();
  RandomStream random(seed, "nodes");
  for (Node& node : nodes) {
    for (float& value : node.state.values) value = static_cast<float>(random.normal());
    refresh_mass(node, nullptr, {}, 1);
    for (float& mass : mass_of(node))
      mass = random.below(2) == 0 ? 0.0f : static_cast<float>(random.below(50));
  }
  return nodes;
}

MixingMatrix random_mixing(Seed seed) {
  return MixingMatrix(Topology({.kind = TopologyKind::erdos_renyi, .degree = 3}, 6, seed).draw(1));
}

TEST(ClassMass, MixingConservesTheMassOfEveryClass) {
  for (Seed seed = 0; seed < 10; ++seed) {
    auto nodes = random_nodes(seed);
    std::vector<double> before(mass_of(nodes[0]).size(), 0.0), after = before;
    for (Node& node : nodes)
      for (std::size_t c = 0; c < before.size(); ++c) before[c] += static_cast<double>(mass_of(node)[c]);
    exchange_once(nodes, random_mixing(seed), {});
    for (Node& node : nodes)
      for (std::size_t c = 0; c < before.size(); ++c) after[c] += static_cast<double>(mass_of(node)[c]);
    for (std::size_t c = 0; c < before.size(); ++c) EXPECT_NEAR(after[c], before[c], 1e-5 * (1 + before[c]));
  }
}

TEST(ClassMass, OnAStaticGraphRowsComeToTheMeanWeightedByPictures) {
  for (const Seed seed : {2, 3}) {
    auto nodes = random_nodes(seed);
    const std::string name = seed % 2 == 0 ? "head.0.weight" : "head.1.weight";
    const std::size_t classes = mass_of(nodes[0]).size(), width = nodes[0].state.part(name).cols();
    std::vector<double> expected(classes * width, 0.0), mass(classes, 0.0);
    for (Node& node : nodes) {
      for (std::size_t c = 0; c < classes; ++c) {
        mass[c] += static_cast<double>(mass_of(node)[c]);
        for (std::size_t i = 0; i < width; ++i)
          expected[c * width + i] += static_cast<double>(mass_of(node)[c] * node.state.part(name)(c, i));
      }
    }
    const MixingMatrix mixing(Topology({.kind = TopologyKind::ring}, 6, seed).draw(1));
    for (int exchange = 0; exchange < 60; ++exchange) exchange_once(nodes, mixing, {});
    for (Node& node : nodes) {
      for (std::size_t c = 0; c < classes; ++c) {
        EXPECT_NEAR(mass_of(node)[c], mass[c] / 6, 1e-4 * (1 + mass[c]));
        for (std::size_t i = 0; i < width && mass[c] > 0; ++i)
          EXPECT_NEAR(node.state.part(name)(c, i), expected[c * width + i] / mass[c], 1e-4);
      }
    }
  }
}

TEST(ClassMass, WithEqualMassesOrWithNoneOrWithoutPowerIsTheAverage) {
  struct Sameness {
    MassOptions options;
    float mass;
    bool keep;
  };
  for (const auto& [options, mass, keep] :
       {Sameness{{}, 7, false}, {{}, 0, false}, {{.power = 0}, 0, true}, {{.floor = 1e7}, 0, true}}) {
    auto nodes = random_nodes(4);
    for (Node& node : nodes)
      if (!keep) std::ranges::fill(mass_of(node), mass);
    auto averaged = nodes;
    const auto mixing = random_mixing(5);
    const auto before = nodes;
    exchange_once(nodes, mixing, options);
    for (Node& node : averaged) {
      const auto inbox = inbox_of(before, mixing, node.id);
      merge_states(node, inbox, MergeSection{}, 1, {.mixing = mixing, .clients = 6});
      for (const char* part : {"head.0.weight", "head.0.bias"}) {
        const auto ours = nodes[node.id].state.part(part), theirs = node.state.part(part);
        for (std::size_t c = 0; c < ours.rows(); ++c)
          for (std::size_t i = 0; i < ours.cols(); ++i) EXPECT_NEAR(ours(c, i), theirs(c, i), 1e-5);
      }
    }
  }
}

TEST(ClassMass, ARowOfAClassThatOneNeighbourAloneHasSeenIsThatNeighboursRow) {
  auto nodes = random_nodes(6);
  for (Node& node : nodes) mass_of(node)[2] = node.id == 1 ? 5.0f : 0.0f;
  const auto before = nodes;
  const MixingMatrix mixing(Topology({.kind = TopologyKind::full}, 6, 1).draw(1));
  exchange_once(nodes, mixing, {});
  for (const Node& node : nodes) {
    EXPECT_TRUE(std::ranges::equal(node.state.part("head.0.weight").row(2),
                                   before[1].state.part("head.0.weight").row(2)));
  }
}

TEST(ClassMass, IsRefreshedByOwnPicturesAndDecaysOtherwise) {
  const auto config = test::small_config();
  auto simulation = test::make_simulation(config);
  Node node = simulation.nodes().front();
  struct Labels final : SampleSource {
    std::size_t size() const override { return 5; }
    std::size_t label(std::size_t i) const override { return i == 0 ? 3 : 1; }
    std::size_t domain(std::size_t) const override { return 0; }
    std::span<const ClassRange> domains() const override { return {}; }
    void write_patches(std::size_t, std::span<float>) const override {}
    void write_query(std::size_t, std::span<float>) const override {}
  } labels;
  const MassOptions options{.decay = 0.5};
  refresh_mass(node, &labels, options, 1);
  EXPECT_EQ(mass_of(node), (std::vector<float>{0, 4, 0, 1, 0, 0}));
  mass_of(node) = {8, 8, 0, 8, 1, 0};
  refresh_mass(node, &labels, options, 1);
  EXPECT_EQ(mass_of(node), (std::vector<float>{4, 4, 0, 4, 0.5, 0}));
  node.memory.clear();
  refresh_mass(node, &labels, {.rounding = 3}, 1);
  EXPECT_EQ(mass_of(node), (std::vector<float>{0, 3, 0, 0, 0, 0}));
  // Noise is drawn once: a neighbour who hears it in every round learns no more.
  node.memory.clear();
  refresh_mass(node, &labels, {.noise = 2}, 1);
  const auto noisy = mass_of(node);
  EXPECT_NE(noisy[1], 4);
  for (const float mass : noisy) EXPECT_GE(mass, 0);
  refresh_mass(node, &labels, {.noise = 2}, 1);
  EXPECT_EQ(mass_of(node), noisy);
}

TEST(ClassMass, OfAMessageThatIsNegativeOrMissingIsRefused) {
  const auto nodes = random_nodes(8);
  const auto patterns = patterns_of_state(nodes[0], HeadMerge::class_mass);
  auto tensors = tensors_of(nodes[1].state);
  const auto refused = [&] {
    const auto decoded = decode_message(encode_message({}, tensors), {{}, patterns});
    return std::holds_alternative<Refusal>(decoded);
  };
  EXPECT_TRUE(refused());
  auto mass = nodes[1].memory.find(kMass)->second;
  tensors.push_back({std::string(kMass), mass.shape, mass.values});
  EXPECT_FALSE(refused());
  mass.values[1] = -1;
  EXPECT_TRUE(refused());
}

constexpr MergeKind kAllKinds[] = {MergeKind::ot, MergeKind::average, MergeKind::barycenter};

MergeSection weighing(MergeKind kind, SenderWeights weights) {
  MergeSection options;
  options.kind = kind;
  options.weights = weights;
  options.head = HeadMerge::class_mass;
  return options;
}

// What node u of these holds after it has merged the letters of its neighbours.
Node merged_node(const std::vector<Node>& nodes, const MixingMatrix& mixing, ClientId u,
                 const MergeSection& options) {
  Node node = nodes[u];
  merge_states(node, inbox_of(nodes, mixing, u), options, 1, {.mixing = mixing, .clients = 6});
  return node;
}

void expect_same_prompts(const Node& ours, const Node& theirs) {
  const auto a = ours.state.prompts(), b = theirs.state.prompts();
  for (std::size_t r = 0; r < a.rows(); ++r)
    for (std::size_t i = 0; i < a.cols(); ++i) EXPECT_NEAR(a(r, i), b(r, i), 1e-6);
}

TEST(PromptMass, WithEqualMassesOrWithNoneWeighsAsTheMixingMatrix) {
  for (const MergeKind kind : kAllKinds) {
    for (const float mass : {7.0f, 0.0f}) {
      auto nodes = random_nodes(10);
      for (Node& node : nodes) std::ranges::fill(mass_of(node), mass);
      const auto mixing = random_mixing(11);
      for (const Node& node : nodes)
        expect_same_prompts(merged_node(nodes, mixing, node.id, weighing(kind, SenderWeights::mass)),
                            merged_node(nodes, mixing, node.id, weighing(kind, SenderWeights::mixing)));
    }
  }
}

TEST(PromptMass, OfZeroLeavesASenderNoSay) {
  const MixingMatrix mixing(Topology({.kind = TopologyKind::full}, 6, 1).draw(1));
  for (const MergeKind kind : kAllKinds) {
    auto nodes = random_nodes(12);
    std::ranges::fill(mass_of(nodes[4]), 0.0f);
    auto moved = nodes;
    for (float& value : moved[4].state.values) value = 3 - 2 * value;
    const auto options = weighing(kind, SenderWeights::mass);
    expect_same_prompts(merged_node(nodes, mixing, 1, options), merged_node(moved, mixing, 1, options));
  }
}

TEST(PromptMass, WeighsSendersInAnyOrderAlike) {
  const MixingMatrix mixing(Topology({.kind = TopologyKind::full}, 6, 1).draw(1));
  for (const MergeKind kind : {MergeKind::ot, MergeKind::average}) {
    const auto nodes = random_nodes(14);
    const auto options = weighing(kind, SenderWeights::mass);
    auto inbox = inbox_of(nodes, mixing, 0);
    Node forward = nodes[0], backward = nodes[0];
    merge_states(forward, inbox, options, 1, {.mixing = mixing, .clients = 6});
    std::ranges::reverse(inbox.messages);
    std::ranges::reverse(inbox.weights);
    merge_states(backward, inbox, options, 1, {.mixing = mixing, .clients = 6});
    expect_same_prompts(forward, backward);
  }
}

TEST(PromptMass, IsWhatAMergeOfTheProgramsOwnIsToldOfSenders) {
  const MixingMatrix mixing(Topology({.kind = TopologyKind::full}, 6, 1).draw(1));
  auto nodes = random_nodes(15);
  for (Node& node : nodes) std::ranges::fill(mass_of(node), node.id == 4 ? 3.0f : 1.0f);
  std::vector<double> told;
  auto options = weighing(MergeKind::ot, SenderWeights::mass);
  options.custom = std::make_shared<const CustomMerge>(
      CustomMerge{"first", [&](const MergeInput& input, std::size_t, std::size_t, MatrixView<float> merged) {
                    told.assign(input.weights.begin(), input.weights.end());
                    std::copy_n(input.senders.front().data(), merged.rows() * merged.cols(), merged.data());
                  }});
  merged_node(nodes, mixing, 0, options);
  ASSERT_EQ(told.size(), 6u);
  for (std::size_t s = 0; s < told.size(); ++s) EXPECT_NEAR(told[s], s == 4 ? 3.0 / 8 : 1.0 / 8, 1e-12);
}

TEST(PromptMass, BringsAveragedPromptsToTheMeanWeightedByPictures) {
  auto nodes = random_nodes(16);
  const std::size_t size = nodes[0].state.layout.at(kPromptPart).size;
  std::vector<double> expected(size, 0.0);
  double pictures = 0;
  for (Node& node : nodes) {
    double own = 0;
    for (const float mass : mass_of(node)) own += static_cast<double>(mass);
    for (std::size_t i = 0; i < size; ++i)
      expected[i] += own * static_cast<double>(node.state.prompts().data()[i]);
    pictures += own;
  }
  const MixingMatrix mixing(Topology({.kind = TopologyKind::ring}, 6, 1).draw(1));
  const auto options = weighing(MergeKind::average, SenderWeights::mass);
  for (int exchange = 0; exchange < 60; ++exchange) {
    const auto before = nodes;
    for (Node& node : nodes) node = merged_node(before, mixing, node.id, options);
  }
  for (const Node& node : nodes)
    for (std::size_t i = 0; i < size; ++i)
      EXPECT_NEAR(node.state.prompts().data()[i], expected[i] / pictures, 1e-4);
}

TEST(PromptMass, IsBelievedUpToTheCapOfEveryClassWhateverTheMerge) {
  const MixingMatrix mixing(Topology({.kind = TopologyKind::full}, 6, 1).draw(1));
  for (const MergeKind kind : kAllKinds) {
    auto honest = random_nodes(18);
    for (Node& node : honest)
      for (float& mass : mass_of(node)) mass = std::min(mass, 5.0f);
    auto boasting = honest;
    std::ranges::fill(mass_of(honest[3]), 5.0f);
    std::ranges::fill(mass_of(boasting[3]), 1e9f);
    auto options = weighing(kind, SenderWeights::mass);
    options.defence.mass_cap = 5;
    expect_same_prompts(merged_node(boasting, mixing, 2, options), merged_node(honest, mixing, 2, options));
  }
}

RunConfig composed(std::size_t which) {
  auto config = test::small_config();
  config.merge.head = HeadMerge::class_mass;
  config.merge.mass = {.decay = 0.8, .power = 0.5, .floor = 1};
  config.partition.kind = PartitionKind::dirichlet;
  config.partition.alpha = 0.3;
  if (which == 0) config.train.optimizer_state = OptimizerMemory::kept;
  if (which == 1) {
    config.prompts.counts = {4, 2, 3};
    config.network.faults = {.link_failure = 0.3, .active_clients = 4};
    config.train.optimizer.sam_radius = 0.05;
  }
  if (which == 2) config.prompts.pool = 6;
  if (which == 3) {
    config.merge.weights = SenderWeights::mass;
    config.merge.kind = MergeKind::average;
    config.prompts.pool = 6;
    config.prompts.keys = PoolKeys::separate;
  }
  return config;
}

TEST(ClassMass, GoesOnFromSavedValuesAndOnAnyThreadsWithTheSameBytes) {
  for (std::size_t which = 0; which < 4; ++which) {
    auto config = composed(which);
    auto whole = test::make_simulation(config);
    for (int round = 0; round < 3; ++round) whole.run_round();
    config.run.threads = 3;
    auto stopped = test::make_simulation(config);
    stopped.run_round();
    auto resumed = test::make_simulation(config);
    resumed.restore(1, stopped.state());
    resumed.run_round();
    const auto record = resumed.run_round();
    EXPECT_EQ(resumed.state(), whole.state()) << which;
    EXPECT_EQ(resumed.network_model().state.values, whole.network_model().state.values);
    ASSERT_TRUE(record.class_mass.has_value());
    EXPECT_GT(record.class_mass->spread, 1.0 / 6);
    EXPECT_LE(record.class_mass->spread, 1 + 1e-9);
    EXPECT_EQ(record.class_mass->total.size(), 6u);
  }
}

}  // namespace
}  // namespace dfrost

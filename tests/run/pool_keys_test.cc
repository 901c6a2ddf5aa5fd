// Separate keys of a pool go where their prompts go: in a client's merge and in the network model.
#include "run/pool_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "run/small_simulation.h"
#include "run/state_merge.h"
#include "support/numbers.h"

namespace dfrost {
namespace {

using test::Points;

constexpr std::uint64_t kKeysRound = 2;
constexpr std::size_t kPoolSize = 6;

RunConfig config_with_keys() {
  auto config = test::small_config();
  config.prompts.pool = kPoolSize;
  config.prompts.count = 3;
  config.prompts.keys = PoolKeys::separate;
  return config;
}

// Row r becomes what row order[r] was.
void reorder(MatrixView<float> rows, const std::vector<std::size_t>& order) {
  Points before(rows.rows(), rows.cols());
  for (std::size_t r = 0; r < rows.rows(); ++r) std::ranges::copy(rows.row(r), before.row(r).begin());
  for (std::size_t r = 0; r < rows.rows(); ++r) std::ranges::copy(before.row(order[r]), rows.row(r).begin());
}

// Prompt and key together, as one pool of pairs that has no order.
void reorder_pool(ClientState& state, const std::vector<std::size_t>& order) {
  reorder(state.prompts(), order);
  reorder(state.part(kKeysPart), order);
}

void add_noise(MatrixView<float> rows, double scale, RandomStream& random) {
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (float& value : rows.row(r)) value += static_cast<float>(scale * random.normal());
  }
}

Message message_with_keys(ClientId sender, const ClientState& state) {
  Message message{.envelope = {.sender = sender, .moment = {.round = kKeysRound}}, .tensors = {}};
  for (const auto& tensor : tensors_of(state)) {
    message.tensors[tensor.name] = {tensor.shape, {tensor.values.begin(), tensor.values.end()}};
  }
  return message;
}

// What a client holds after it has merged with its peers, all of the same weight.
ClientState merged_with(const Node& client, const std::vector<ClientState>& peers, const RunConfig& config) {
  Inbox inbox;
  for (const auto& peer : peers) {
    inbox.messages.push_back(message_with_keys(static_cast<ClientId>(inbox.messages.size() + 1), peer));
    inbox.weights.push_back(1.0 / static_cast<double>(peers.size() + 1));
  }
  inbox.self_weight = 1.0 / static_cast<double>(peers.size() + 1);
  Node merging = client;
  const auto report = merge_states(merging, inbox, config.merge, config.run.seed, {.round = kKeysRound});
  EXPECT_TRUE(report.merged);
  EXPECT_GT(report.merge_seconds, 0);
  EXPECT_GT(report.measure_seconds, 0);
  return merging.state;
}

// The same pairs of prompt and key, in whatever order.
void expect_same_pool(const ClientState& a, const ClientState& b) {
  const auto prompts = a.prompts(), others = b.prompts();
  for (std::size_t i = 0; i < prompts.rows(); ++i) {
    const auto distance = [&](std::size_t j) {
      double sum = 0;
      for (std::size_t k = 0; k < prompts.cols(); ++k)
        sum += std::pow(static_cast<double>(prompts(i, k)) - static_cast<double>(others(j, k)), 2);
      return sum;
    };
    std::size_t nearest = 0;
    for (std::size_t j = 1; j < others.rows(); ++j) {
      if (distance(j) < distance(nearest)) nearest = j;
    }
    EXPECT_LT(distance(nearest), 1e-8);
    for (std::size_t k = 0; k < prompts.cols(); ++k)
      ASSERT_NEAR(a.part(kKeysPart)(i, k), b.part(kKeysPart)(nearest, k), 1e-5) << "prompt " << i;
  }
}

TEST(PoolKeys, AreMeansByTheMassOfThePlan) {
  const Points own(2, 1, {1, 10}), other(2, 1, {100, 1'000});
  MergeSummary summary;
  summary.plan = {0.25, 0.25,  // rows: own 0, own 1, other 0, other 1; columns: the merged prompts
                  0.00, 0.00,  //
                  0.00, 0.25,  //
                  0.25, 0.00};
  Points merged = own;
  merge_keys(std::vector{own.view(), other.view()}, summary, merged.view());
  EXPECT_FLOAT_EQ(merged.values[0], (1 + 1'000) / 2.0f);
  EXPECT_FLOAT_EQ(merged.values[1], (1 + 100) / 2.0f);
}

TEST(PoolKeys, OfADeadPromptStayAsTheyWere) {
  const Points own(2, 1, {1, 10}), other(2, 1, {100, 1'000});
  MergeSummary summary;
  summary.plan = {0.25, 0.0, 0.25, 0.0, 0.25, 0.0, 0.25, 1e-12};
  summary.dead = {1};
  Points merged = own;
  merge_keys(std::vector{own.view(), other.view()}, summary, merged.view());
  EXPECT_FLOAT_EQ(merged.values[0], 1'111 / 4.0f);
  EXPECT_EQ(merged.values[1], 10);
}

TEST(PoolKeys, DoNotChangeWhenAPeerReordersPromptsAndKeysAlike) {
  for (const auto kind : {MergeKind::ot, MergeKind::barycenter}) {
    auto config = config_with_keys();
    config.merge.kind = kind;
    const auto federation = test::make_simulation(config);
    for (Seed seed = 0; seed < 5; ++seed) {
      RandomStream random(seed, "reordered keys");
      Node client = federation.clients().front();
      add_noise(client.state.prompts(), 1, random);  // far enough apart to be told from each other
      std::vector<ClientState> peers(2, client.state);
      for (auto& peer : peers) {
        add_noise(peer.prompts(), 0.02, random);
        add_noise(peer.part(kKeysPart), 0.5, random);
      }
      const auto before = merged_with(client, peers, config);
      reorder_pool(peers[1], random.permutation(kPoolSize));
      const auto after = merged_with(client, peers, config);
      expect_same_pool(before, after);
      // They belong to the prompts, not to the head.
      config.merge.head = HeadMerge::own;
      expect_same_pool(before, merged_with(client, peers, config));
      config.merge.head = HeadMerge::average;
    }
  }
}

TEST(PoolKeys, OfTheNetworkModelBelongToItsPrompts) {
  auto federation = test::make_simulation(config_with_keys());
  RandomStream random(1, "network keys");
  ClientState pool = federation.clients().front().state;
  add_noise(pool.prompts(), 1, random);
  auto saved = federation.state();
  saved.values.clear();
  for (std::size_t u = 0; u < federation.clients().size(); ++u) {
    ClientState own = pool;
    reorder_pool(own, random.permutation(kPoolSize));
    saved.values.insert(saved.values.end(), own.values.begin(), own.values.end());
  }
  federation.restore(1, saved);  // measures
  expect_same_pool(federation.network_model().state, pool);
}

}  // namespace
}  // namespace dfrost

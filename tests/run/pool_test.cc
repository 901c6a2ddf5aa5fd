// Pools of prompts that grow: what is lined up in which order, what a limit does, and that all of it is
// saved, scored and written as anything else is.
#include <gtest/gtest.h>

#include "adapter/adapter_file.h"
#include "config/methods.h"
#include "run/method.h"
#include "run/pool_growth.h"
#include "run/small_experiment.h"
#include "run/small_simulation.h"
#include "support/support.h"

namespace dfrost {
namespace {

RunConfig growing(const std::string& method) {
  auto config = test::small_config();
  apply_method(config, method);
  config.train.epochs = 1;
  config.train.batch = 4;
  config.train.optimizer.learning_rate = 1e-2;
  config.prompts.count = 4;
  if (config.prompts.pool != 0) config.prompts.pool = 6;
  config.merge.pool.limit = 0;
  config.merge.pool.passes = 3;
  config.prompts.init = PromptInit::independent;
  return config;
}

// A client whose pool holds these numbers, a row each.
Node holder_of(std::vector<float> numbers, std::size_t own) {
  Node node;
  node.adapter.prompts = {.count = own, .pool = numbers.size(), .grows = true};
  node.state.layout.add(std::string(kPromptPart), {numbers.size(), 1});
  node.state.values = std::move(numbers);
  return node;
}

MatrixView<const float> column(const std::vector<float>& numbers) {
  return {numbers.data(), numbers.size(), 1};
}

TEST(PassOn, LinesUpOwnPromptsThenTheNewestOfOthersThenWhatWasKept) {
  const std::vector<float> pool = {1, 2, 7, 8}, a = {10, 11, 12}, b = {20, 2, 8};
  for (const std::size_t limit : {0, 6}) {
    Node node = holder_of(pool, 2);
    const auto outcome = grow_pool(node, std::vector{column(pool), column(a), column(b)},
                                   {.kind = PoolMerge::pass_on, .limit = limit}, 1);
    // 2 is there already, and 8 has come anew, before 7.
    std::vector<float> expected = {1, 2, 10, 20, 11, 12, 8, 7};
    EXPECT_EQ(outcome.dropped_prompts, limit == 0 ? 0u : 2u);
    if (limit != 0) expected.resize(limit);
    EXPECT_EQ(node.state.values, expected);
    EXPECT_EQ(node.adapter.prompts.held(), expected.size());
  }
}

TEST(PassOn, BringsPromptsFurtherThanToNeighbours) {
  auto simulation = test::make_simulation(growing("pass-on"));  // six on a ring, redrawn each round
  EXPECT_EQ(simulation.run_round().prompts_per_client, 12);     // own, and those of two neighbours
  EXPECT_GT(simulation.run_round().prompts_per_client, 16);
}

TEST(GrowingPools, GrowWithoutAServerAndTheRecordSaysWhatALimitDropped) {
  auto config = growing("pfpt-decentralized");
  auto free = test::make_simulation(config);
  const auto first = free.run_round(), second = free.run_round();
  EXPECT_GT(first.prompts_per_client, 6);
  EXPECT_GT(second.prompts_per_client, 1.5 * first.prompts_per_client);
  EXPECT_EQ(second.dropped_prompts, 0u);
  config.merge.pool.limit = 9;
  auto held = test::make_simulation(config);
  const auto record = held.run_round();
  EXPECT_EQ(record.prompts_per_client, 9);
  EXPECT_EQ(static_cast<double>(record.dropped_prompts), 6 * (first.prompts_per_client - 9));
  config.merge.pool.overflow = PoolOverflow::error;
  auto strict = test::make_simulation(config);
  test::expect_error(ErrorCode::resource_exhausted, "beyond merge.pool_limit = 9",
                     [&] { strict.run_round(); });
}

TEST(GrowingPools, OfAServerAreHandedOutAtTheSizeTheyHave) {
  auto config = growing("pfpt");
  config.network.faults.active_clients = 3;
  auto simulation = test::make_simulation(config);
  const auto record = simulation.run_round();
  const std::size_t pool = simulation.nodes().back().state.prompts().rows();
  EXPECT_GT(pool, 6u);
  EXPECT_EQ(record.prompts_per_client, static_cast<double>(pool));
  simulation.run_round();
  std::size_t taken = 0;
  for (const auto& client : simulation.clients()) taken += client.state.prompts().rows() == pool ? 1 : 0;
  EXPECT_EQ(taken, 3u);
  EXPECT_EQ(simulation.network_model().state.values, simulation.nodes().back().state.values);
}

TEST(GrowingPools, GoOnAfterAStopAndOnAnyThreadsWithTheSameBytes) {
  for (const std::string method : {"pass-on", "pfpt", "pfpt-decentralized"}) {
    SCOPED_TRACE(method);
    auto config = growing(method);
    config.merge.pool.limit = 30;
    auto whole = test::make_simulation(config), stopped = test::make_simulation(config);
    for (int round = 0; round < 3; ++round) whole.run_round();
    stopped.run_round();
    stopped.run_round();
    config.run.threads = 3;
    auto resumed = test::make_simulation(config);
    resumed.restore(2, stopped.state());
    resumed.run_round();
    EXPECT_EQ(resumed.state(), whole.state());
  }
}

TEST(GrowingPools, LeaveAdaptersThatCanBeRead) {
  test::SmallExperiment experiment;
  apply_method(experiment.config, "pass-on");
  experiment.config.run.rounds = 1;
  experiment.config.method.cooperation = Cooperation::peers;
  test::StoppingObserver observer;
  run_experiment(experiment.config, {.folder = experiment.folder / "run"}, observer);
  const auto adapter = read_adapter(experiment.folder / "run/adapter/client-000.safetensors");
  EXPECT_TRUE(adapter.card.adapter.prompts.selects());
  EXPECT_GT(adapter.state.prompts().rows(), adapter.card.adapter.prompts.count);
  // The network's model has no more prompts than pictures use, and a projection all the same.
  EXPECT_TRUE(read_adapter(experiment.folder / "run/adapter/network.safetensors")
                  .state.layout.contains(kProjectionPart));
}

TEST(GrowingPools, RefuseWhatDoesNotGoWithThem) {
  const auto refused = [](const char* why, const auto& change) {
    auto config = growing("pfpt-decentralized");
    change(config);
    test::expect_error(ErrorCode::invalid_argument, why, [&] { config.validate(); });
  };
  refused("takes a step from the same prompts", [](RunConfig& c) {
    apply_method(c, "dgd");
    c.merge.pool.kind = PoolMerge::pfpt;
  });
  refused("a prompt is its own key", [](RunConfig& c) { c.prompts.keys = PoolKeys::separate; });
  refused("no number of prompts of their own", [](RunConfig& c) { c.prompts.counts = {4}; });
  refused("cannot begin with", [](RunConfig& c) { c.merge.pool.limit = 5; });
  refused("passed on between neighbours", [](RunConfig& c) {
    c.merge.pool.kind = PoolMerge::pass_on;
    c.method.cooperation = Cooperation::server;
  });
  refused("not yet class by class", [](RunConfig& c) { c.merge.head = HeadMerge::class_mass; });
}

TEST(GrowingPools, BoundWhatALetterMayBringByTheirLimitAlone) {
  auto config = growing("pass-on");
  config.merge.pool.limit = 2 * config.prompts.held() + 1;
  EXPECT_EQ(make_method(config).prompt_growth, 3u);  // times what they begin with: all of the limit fits
  config.merge.pool.limit = 0;
  EXPECT_EQ(make_method(config).prompt_growth, 0u);
  const auto simulation = test::make_simulation(config);
  for (const auto& node : simulation.nodes()) EXPECT_EQ(node.most_prompts, 0u);
  apply_method(config, "dfrost");
  EXPECT_EQ(make_method(config).prompt_growth, 1u);
}

}  // namespace
}  // namespace dfrost

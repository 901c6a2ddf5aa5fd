// What optimizers keep from round to round, in a federation and on disk: it is the client's own, and it is
// saved, restored and taken back with all else that a client has.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/file.h"
#include "run/small_experiment.h"
#include "run/small_simulation.h"
#include "run/state_merge.h"
#include "run/update_phase.h"

namespace dfrost {
namespace {

using test::make_simulation;
using test::SmallExperiment;
using test::state_after;
using test::StoppingObserver;

const OptimizerOptions kAdam = {.kind = OptimizerKind::adam, .learning_rate = 1e-2};
const OptimizerOptions kMomentum = {.kind = OptimizerKind::sgd, .learning_rate = 1e-2, .momentum = 0.9};
const OptimizerOptions kPlain = {.kind = OptimizerKind::sgd, .learning_rate = 1e-2};

RunConfig keeping(const OptimizerOptions& optimizer) {
  auto config = test::small_config();
  config.train.optimizer = optimizer;
  config.train.optimizer_state = OptimizerMemory::kept;
  return config;
}

TEST(KeptOptimizers, GoOnFromRoundToRoundAndFreshOnesCostNothing) {
  for (const auto& optimizer : {kAdam, kMomentum, kPlain}) {
    auto config = keeping(optimizer);
    const auto kept = state_after(config, 2);
    config.train.optimizer_state = OptimizerMemory::fresh;
    const auto fresh = state_after(config, 2);
    EXPECT_EQ(kept.values == fresh.values, remembered_vectors(optimizer) == 0);
    // Six clients of twelve pictures in batches of four, for one epoch and two rounds.
    EXPECT_EQ(kept.optimizer_steps, std::vector<std::uint64_t>(6, 6));
    EXPECT_EQ(kept.optimizer_values.size(), kept.values.size() * remembered_vectors(optimizer));
    EXPECT_TRUE(fresh.optimizer_steps.empty());
    EXPECT_EQ(fresh.optimizer_values.capacity(), 0u);
  }
}

TEST(KeptOptimizers, AreTheSameAtAnyNumberOfThreads) {
  for (const auto& optimizer : {kAdam, kMomentum}) {
    auto config = keeping(optimizer);
    const auto expected = state_after(config, 3);
    config.run.threads = 3;
    EXPECT_EQ(state_after(config, 3), expected);
  }
}

TEST(KeptOptimizers, AreNeitherSentNorMerged) {
  auto config = keeping(kAdam);
  config.network.topology.kind = TopologyKind::full;
  config.merge.kind = MergeKind::average;
  auto federation = make_simulation(config);
  const auto sent = federation.run_round().sent_bytes;
  const auto& clients = federation.clients();
  for (std::size_t i = 0; i < clients[0].state.values.size(); ++i)
    ASSERT_NEAR(clients[0].state.values[i], clients[1].state.values[i], 1e-6);
  EXPECT_NE(clients[0].state.optimizer.first, clients[1].state.optimizer.first);
  config.train.optimizer_state = OptimizerMemory::fresh;
  EXPECT_EQ(make_simulation(config).run_round().sent_bytes, sent);
}

TEST(KeptOptimizers, OfAbsentClientsWait) {
  auto config = keeping(kAdam);
  config.network.faults.active_clients = 2;
  auto federation = make_simulation(config);
  std::vector<OptimizerState> before(6);
  for (int round = 0; round < 4; ++round) {
    const auto record = federation.run_round();
    const auto& absent = record.graph->absent;
    EXPECT_EQ(absent.size(), 4u);
    for (const auto& client : federation.clients()) {
      const bool waited = std::ranges::find(absent, client.id) != absent.end();
      EXPECT_EQ(client.state.optimizer == before[client.id], waited);
      before[client.id] = client.state.optimizer;
    }
  }
  // And who has never trained comes back so.
  auto restored = make_simulation(config);
  restored.restore(4, federation.state());
  EXPECT_EQ(restored.state(), federation.state());
  restored.run_round();
  federation.run_round();
  EXPECT_EQ(restored.state(), federation.state());
}

// A second round of it, alone.
TrainOutcome train_on_squares(Node& client, const RunConfig& config) {
  const Corpus corpus = test::coloured_squares(2, 1);
  Preprocessing how;
  how.resize = how.crop = test::tiny_backbone().geometry().image_size;
  const CorpusSamples samples(corpus, corpus.train, test::tiny_backbone(), how, 0);
  Workspace workspace(test::tiny_backbone());
  const UpdatePhase phase(config.train, config.merge, config.run.seed);
  NodeReport report;
  phase.work(client, {.round = 2}, {&samples, workspace}, report);
  return report.train;
}

TEST(KeptOptimizers, AreTakenBackWithAnUpdateThatDiverged) {
  for (const auto& optimizer : {kAdam, kMomentum}) {
    auto config = keeping(optimizer);
    auto federation = make_simulation(config);
    federation.run_round();
    Node client = federation.clients().front();
    const auto before = client.state;
    const auto before_merge = client.memory.find(kLastGood)->second.values;
    config.train.optimizer.learning_rate = 1e38;
    EXPECT_TRUE(train_on_squares(client, config).diverged);
    EXPECT_EQ(client.state.values, before_merge);
    EXPECT_EQ(client.state.optimizer, before.optimizer);
  }
}

// A square that overflows stops its value without a trace in it; kept, it would stop it for good.
TEST(KeptOptimizers, ThatAreNoNumbersCountAsDiverged) {
  const auto config = keeping(kAdam);
  auto federation = make_simulation(config);
  federation.run_round();
  Node client = federation.clients().front();
  client.state.optimizer.second.back() = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(train_on_squares(client, config).diverged);
}

TEST(KeptOptimizers, AreRefusedWhereTheyDoNotFit) {
  const auto config = keeping(kAdam);
  auto federation = make_simulation(config);
  const auto good = state_after(config, 1);
  auto without = good, shorter = good;
  without.optimizer_steps.clear();
  without.optimizer_values.clear();
  shorter.optimizer_values.pop_back();
  test::expect_error(ErrorCode::data_loss, "optimizers", [&] { federation.restore(1, without); });
  test::expect_error(ErrorCode::data_loss, "remember", [&] { federation.restore(1, shorter); });
  EXPECT_EQ(federation.state(), state_after(config, 0)) << "unchanged by what was refused";
  auto fresh = make_simulation(test::small_config());
  test::expect_error(ErrorCode::data_loss, "optimizers", [&] { fresh.restore(1, good); });
}

std::string result_bytes(const SmallExperiment& experiment) {
  std::string bytes = read_text_file(experiment.run_folder() / "adapter/network.safetensors") +
                      read_text_file(experiment.run_folder() / "adapter/client-003.safetensors");
  const auto last = experiment.run_folder() / "checkpoints/round-000004.safetensors";
  for (const char* name : {"values", "optimizer"}) {
    const SafetensorsFile file(last);
    for (const std::byte byte : file.content().at(name).bytes) bytes += static_cast<char>(byte);
    bytes += file.content().metadata.at("optimizer_steps");
  }
  return bytes;
}

TEST(KeptOptimizers, OfAStoppedRunGoOnAsIfItHadNeverStopped) {
  for (const auto& optimizer : {kAdam, kMomentum, kPlain}) {
    for (const std::size_t every : {0, 1}) {
      SmallExperiment whole, stopped;
      for (auto* experiment : {&whole, &stopped}) {
        experiment->config.run.rounds = 4;
        experiment->config.run.checkpoint_every = every;
        experiment->config.train.optimizer = optimizer;
        experiment->config.train.optimizer_state = OptimizerMemory::kept;
      }
      StoppingObserver observer, first(1), second(2);
      whole.run(observer);
      test::expect_error(ErrorCode::cancelled, "stopped", [&] { stopped.run(first); });
      stopped.config.run.threads = 2;
      test::expect_error(ErrorCode::cancelled, "stopped", [&] { stopped.run(second, true); });
      stopped.run(observer, true);
      EXPECT_EQ(observer.notes.back(), "resumed after round 3");
      EXPECT_TRUE(result_bytes(stopped) == result_bytes(whole));
    }
  }
}

TEST(KeptOptimizers, AreNotGuessedForARunThatStartedThemFresh) {
  StoppingObserver observer, stopping(1);
  SmallExperiment experiment;
  test::expect_error(ErrorCode::cancelled, "stopped", [&] { experiment.run(stopping); });
  const auto refused = [&] {
    test::expect_error(ErrorCode::failed_precondition, "other settings",
                       [&] { experiment.run(observer, true); });
  };
  experiment.config.train.optimizer_state = OptimizerMemory::kept;
  refused();
  experiment.config.train.optimizer_state = OptimizerMemory::fresh;
  experiment.config.train.max_steps = 1;
  refused();
  experiment.config.train.max_steps = 0;
  EXPECT_EQ(experiment.run(observer, true).totals.rounds, 3u);
}

TEST(MaxSteps, AreCountedInWhatARoundRecords) {
  auto config = test::small_config();
  config.train.epochs = 5;
  EXPECT_EQ(make_simulation(config).run_round().images, 6u * 12 * 5);
  config.train.max_steps = 1;
  EXPECT_EQ(make_simulation(config).run_round().images, 6u * 4);
  config.train.max_steps = 4;  // an epoch of three batches, and one of the next
  std::size_t shown = 0;
  const auto record = make_simulation(config).run_round([&](const RoundProgress& progress) {
    if (progress.stage == "train" && progress.done == progress.total) shown = progress.images;
  });
  EXPECT_EQ(record.images, 6u * (12 + 4));
  EXPECT_EQ(shown, record.images);
  EXPECT_GT(record.train_loss, 0);
}

}  // namespace
}  // namespace dfrost

// Moments of the features before the first round, and heads that are trained in other coordinates: alone and
// with all else that is for label skew.
#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"
#include "config/methods.h"
#include "run/moments_phase.h"
#include "run/small_experiment.h"
#include "run/small_simulation.h"

namespace dfrost {
namespace {

RunConfig skewed(HeadCoordinates coordinates = HeadCoordinates::whitened) {
  auto config = test::small_config();
  config.partition.kind = PartitionKind::dirichlet;
  config.partition.alpha = 0.3;
  config.train.frame.coordinates = coordinates;
  return config;
}

const NodeTensor& remembered(const Node& node, const char* name) { return node.memory.find(name)->second; }

TEST(Moments, ComeToThoseOfAllPicturesAsTheyAreMixed) {
  auto config = skewed();
  config.train.frame.rounds = 60;
  auto mixed = test::make_simulation(config);
  mixed.run_round();
  config.method.cooperation = Cooperation::central;  // one client with all pictures
  auto central = test::make_simulation(config);
  central.run_round();
  for (const char* name : {"head.mean", "head.factor"}) {
    const auto& all = remembered(central.nodes().front(), name).values;
    double size = 0;
    for (const float value : all) size = std::max(size, std::abs(static_cast<double>(value)));
    for (const auto& client : mixed.clients()) {
      const auto& own = remembered(client, name).values;
      ASSERT_EQ(own.size(), all.size());
      for (std::size_t i = 0; i < own.size(); ++i) ASSERT_NEAR(own[i], all[i], 2e-3 * size) << name;
    }
  }
}

TEST(Moments, TravelBeforeTheFirstRoundAndAreCounted) {
  const auto bytes_of = [](HeadCoordinates coordinates, MomentsOf moments, std::size_t rounds) {
    auto config = skewed(coordinates);
    config.train.frame.moments = moments;
    config.train.frame.rounds = rounds;
    auto simulation = test::make_simulation(config);
    const auto first = simulation.run_round(), second = simulation.run_round();
    EXPECT_EQ(first.missing_messages + first.refused_messages, 0u);
    return first.sent_bytes - second.sent_bytes;
  };
  EXPECT_EQ(bytes_of(HeadCoordinates::raw, MomentsOf::network, 3), 0u);
  EXPECT_EQ(bytes_of(HeadCoordinates::whitened, MomentsOf::own, 3), 0u);
  EXPECT_EQ(bytes_of(HeadCoordinates::whitened, MomentsOf::backbone, 3), 0u);
  const auto centred = bytes_of(HeadCoordinates::centred, MomentsOf::network, 3);
  const auto whitened = bytes_of(HeadCoordinates::whitened, MomentsOf::network, 3);
  EXPECT_GT(centred, 0u);
  const std::size_t width = test::tiny_backbone().geometry().width;
  EXPECT_NEAR(static_cast<double>(whitened - centred),
              3.0 * 12 * 4 * static_cast<double>(triangle_size(width)),
              3 * 12 * 200);  // three times over both ways of six links
  EXPECT_EQ(2 * whitened, bytes_of(HeadCoordinates::whitened, MomentsOf::network, 6));
}

TEST(Moments, WithNoiseAreOthers) {
  auto config = skewed();
  auto plain = test::make_simulation(config);
  config.train.frame.noise = 0.2;
  auto noisy = test::make_simulation(config);
  plain.run_round();
  noisy.run_round();
  EXPECT_NE(remembered(plain.nodes()[0], "head.factor"), remembered(noisy.nodes()[0], "head.factor"));
}

TEST(BackboneMoments, AreInEveryClientsMemoryBeforeAnythingIsComputedOrSent) {
  for (const auto coordinates : {HeadCoordinates::centred, HeadCoordinates::whitened}) {
    auto config = skewed(coordinates);
    config.train.frame.moments = MomentsOf::backbone;
    auto simulation = test::make_simulation(config);
    EXPECT_TRUE(simulation.method().preparation.empty());
    const auto& frame = simulation.method().frame.value();
    for (const auto& client : simulation.clients()) {
      EXPECT_EQ(remembered(client, "head.mean").values, frame.mean);
      EXPECT_EQ(client.memory.contains("head.factor"), coordinates == HeadCoordinates::whitened);
    }
    simulation.run_round();
    for (const auto& client : simulation.clients())
      EXPECT_EQ(remembered(client, "head.mean").values, frame.mean);
  }
}

// A round whose steps are as good as none leaves only the way into the coordinates and out of them.
TEST(BackboneMoments, ThereAndBackChangesNothing) {
  auto config = skewed();
  config.train.frame.moments = MomentsOf::backbone;
  config.train.optimizer = {.kind = OptimizerKind::sgd, .learning_rate = 1e-30};
  config.method.cooperation = Cooperation::none;
  auto simulation = test::make_simulation(config);
  const auto before = simulation.state().values;
  simulation.run_round();
  const auto after = simulation.state().values;
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) ASSERT_NEAR(after[i], before[i], 1e-6);
}

TEST(BackboneMoments, AreRefusedWhereTheyDoNotFit) {
  auto config = skewed();
  config.train.frame.moments = MomentsOf::backbone;
  config.validate();
  test::expect_error(ErrorCode::invalid_argument, "there are none", [&] { make_method(config); });
  auto reads_logits = config;
  reads_logits.head.kind = HeadKind::pfpt;
  test::expect_error(ErrorCode::invalid_argument, "train.head_moments", [&] { reads_logits.validate(); });
  auto served = config;
  apply_method(served, "fedavg-pt");
  served.train.frame = config.train.frame;
  served.validate();
  served.train.frame.moments = MomentsOf::own;
  test::expect_error(ErrorCode::invalid_argument, "train.head_coordinates", [&] { served.validate(); });
}

std::string adapter_bytes(const std::filesystem::path& run) {
  return read_text_file(run / "adapter/network.safetensors");
}

TEST(BackboneMoments, AreReadFromBesideTheWeightsAndDecideWhatMayBeResumed) {
  test::SmallExperiment experiment;
  apply_method(experiment.config, "dfrost-plus");
  experiment.config.train.frame.moments = MomentsOf::backbone;
  test::StoppingObserver nobody;
  test::expect_error(ErrorCode::not_found, "dfrost backbone moments", [&] { experiment.run(nobody); });
  test::write_small_moments(experiment.config.backbone);
  experiment.run(nobody);
  const auto whole = adapter_bytes(experiment.run_folder());

  std::filesystem::remove_all(experiment.run_folder());
  experiment.config.run.threads = 3;
  experiment.config.run.checkpoint_every = 1;
  test::StoppingObserver stop(1);
  EXPECT_THROW(experiment.run(stop), Error);
  test::write_small_moments(experiment.config.backbone, 2);
  test::expect_error(ErrorCode::failed_precondition, "", [&] { experiment.run(nobody, true); });
  test::write_small_moments(experiment.config.backbone);
  experiment.run(nobody, true);
  EXPECT_EQ(adapter_bytes(experiment.run_folder()), whole);
}

// Everything that is for label skew, with what else a run may have.
std::vector<RunConfig> compositions() {
  std::vector<RunConfig> all;
  for (const char* method : {"dfrost", "dfedsam+", "dfedavgm", "d2"}) {
    auto config = skewed();
    apply_method(config, method);
    config.train.batch = 4;
    config.train.optimizer.learning_rate = 1e-2;
    config.train.frame = {.coordinates = HeadCoordinates::whitened, .rounds = 2};
    config.prompts.count = 4;
    if (config.prompts.pool != 0) config.prompts.pool = 6;
    config.merge.head = HeadMerge::class_mass;
    config.train.prompt_rate = 0.1;
    if (config.method.round == RoundKind::update) {
      config.train.epochs = 2;
      config.train.prompt_epochs = 1;
      config.train.prompt_pull = 0.1;
    }
    all.push_back(config);
  }
  all[0].prompts.counts = {4, 2, 3};
  all[0].network.faults = {.link_failure = 0.3, .active_clients = 4};
  all[1].train.optimizer_state = OptimizerMemory::kept;
  all[1].train.frame.moments = MomentsOf::backbone;
  all[2].train.optimizer_state = OptimizerMemory::kept;
  all[2].head.kind = HeadKind::mlp;
  return all;
}

TEST(Skew, AllTogetherGoesOnFromSavedValuesAndOnAnyThreadsWithTheSameBytes) {
  for (auto config : compositions()) {
    SCOPED_TRACE(config.method.name);
    auto whole = test::make_simulation(config);
    for (int round = 0; round < 3; ++round) EXPECT_EQ(whole.run_round().diverged_clients, 0u);
    config.run.threads = 3;
    auto stopped = test::make_simulation(config);
    stopped.run_round();
    auto resumed = test::make_simulation(config);
    resumed.restore(1, stopped.state());
    resumed.run_round();
    resumed.run_round();
    EXPECT_EQ(resumed.state(), whole.state());
    EXPECT_EQ(resumed.network_model().state.values, whole.network_model().state.values);
  }
}

TEST(Skew, AClientWithoutPicturesTakesPart) {
  auto config = skewed();
  config.merge.head = HeadMerge::class_mass;
  config.train.prompt_epochs = 0;
  config.partition.alpha = 0.05;
  config.partition.min_per_client = 0;
  auto simulation = test::make_simulation(config);
  simulation.run_round();
  EXPECT_EQ(simulation.run_round().refused_messages, 0u);
}

}  // namespace
}  // namespace dfrost

#include "config/config.h"

#include <gtest/gtest.h>

#include "config/methods.h"
#include "config/presets.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::expect_error;

void expect_refused(const std::string& key, const std::string& reason, const RunConfig& config) {
  try {
    config.validate();
    ADD_FAILURE() << "not refused: " << reason;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.place(), key);
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
  }
}

TEST(RunConfig, TheDefaultIsValidAndHasFiftyClients) {
  const RunConfig config;
  config.validate();
  EXPECT_EQ(config.clients(), 50u);
}

TEST(RunConfig, RefusesADegreeThatNoGraphHas) {
  RunConfig config;
  config.partition.clients_per_domain = 9;  // 45 clients of degree 5: odd
  expect_refused("network.degree", "is odd", config);
  config.network.topology.degree = 45;
  expect_refused("network.degree", "each has only 44 others", config);
  config.network.topology.degree = 44;
  config.validate();
}

TEST(RunConfig, RefusesMoreActiveClientsThanClients) {
  RunConfig config;
  config.network.faults.active_clients = 51;
  expect_refused("network.active_clients", "51 active clients of 50", config);
}

TEST(RunConfig, AveragesOnlySetsOfOneSize) {
  RunConfig config;
  config.prompts.counts = {10, 5};
  config.validate();  // merged by optimal transport
  config.merge.kind = MergeKind::average;
  expect_refused("prompts.counts", "sets of 5 and 10 prompts cannot be averaged by index", config);
  config.method.cooperation = Cooperation::none;  // nothing is averaged
  config.validate();
  config.method.cooperation = Cooperation::peers;
  config.prompts.counts = {7, 7};
  config.validate();
  config.prompts.counts = {10, 5};
  config.prompts.pool = 20;  // all hold the same pool
  config.validate();
}

TEST(RunConfig, AMetricNeedsATransportAndABackboneWithBlocks) {
  RunConfig config;
  config.merge.metric = MergeMetric::first_block;
  config.validate();
  config.merge.kind = MergeKind::average;
  expect_refused("merge.metric", "nothing is transported", config);
  config.merge.kind = MergeKind::barycenter;
  config.validate();
  config.backbone.path = "pixels";
  expect_refused("merge.metric", "has no first block", config);
}

TEST(RunConfig, PromptsWeighByMassWhereMassesTravel) {
  RunConfig config;
  config.merge.weights = SenderWeights::mass;
  expect_refused("merge.weights", "with merge.head 'average' there are none", config);
  config.merge.head = HeadMerge::class_mass;
  config.validate();
  config.merge.defence.head_trim = 0.1;
  config.validate();
  config.merge.kind = MergeKind::average;
  expect_refused("merge.weights", "one vector of one weight", config);
  config.merge.defence.head_trim = 0;
  config.validate();
  config.merge.head = HeadMerge::average;
  config.merge.pool.kind = PoolMerge::pass_on;
  expect_refused("merge.weights", "a pool by 'pass-on' takes prompts as they come", config);
  config.merge.pool.kind = PoolMerge::fixed;
  config.method.cooperation = Cooperation::server;
  expect_refused("merge.weights", "a server is told how many pictures", config);
}

TEST(RunConfig, ClientsTakeTheirNumbersOfPromptsInTurn) {
  RunConfig config;
  EXPECT_EQ(config.prompts_of(3).count, 10u);
  config.prompts.counts = {4, 6, 8};
  EXPECT_EQ(config.prompts_of(0).count, 4u);
  EXPECT_EQ(config.prompts_of(2).count, 8u);
  EXPECT_EQ(config.prompts_of(4).count, 6u);
}

TEST(RunConfig, RefusesAPoolSmallerThanWhatIsChosenFromIt) {
  RunConfig config;
  config.prompts.pool = 9;
  expect_refused("prompts.pool", "10 prompts cannot be chosen from a pool of 9", config);
  config.prompts.pool = 10;
  config.prompts.counts = {10, 11};
  expect_refused("prompts.counts", "11 prompts cannot be chosen from a pool of 10", config);
  config.prompts.count = 9;
  config.prompts.counts = {8, 9};
  config.validate();
  config.prompts.counts = {9, 10};
  expect_refused("prompts.counts", "9 of 10 prompts leave a choice and 10 do not", config);
}

TEST(RunConfig, RefusesClientsThatWouldHaveTooFewPictures) {
  RunConfig config;
  config.data.train_per_domain = 329;
  expect_refused("partition.min_per_client",
                 "cifar10 has 329 training pictures; 10 clients with at least 33 each need 330", config);
  config.data.train_per_domain = 330;
  config.validate();
}

TEST(RunConfig, RefusesNamesThatAreNoFolder) {
  for (const std::string name : {"", "..", ".hidden", "a/b", "a b", "a\nb"}) {
    RunConfig config;
    config.run.name = name;
    expect_refused("run.name", "cannot name a folder", config);
  }
}

TEST(RunConfig, RefusesDataSetsThatNobodyKnowsUnlessTheyHaveAPath) {
  RunConfig config;
  config.data.domains = {{.name = "flowers"}, {.name = "mnist"}};
  expect_refused("data.domains", "there is no data set 'flowers'", config);
  config.data.domains[0].path = "flowers";
  config.network.topology.degree = 4;
  config.validate();
}

TEST(RunConfig, RefusesValuesThatTheTableDoesNotAllow) {
  RunConfig config;
  config.train.batch = 0;
  expect_refused("train.batch", "0 is not a whole number from 1 to 65536", config);
  config = {};
  config.method.name = "fedprox";
  expect_refused("method.name", "is not one of", config);
  config = {};
  config.merge.epsilon = 1e-100;
  expect_refused("merge.epsilon", "epsilon is 1e-100", config);
}

TEST(RunConfig, OneClientHoldsAllDataInCentralTrainingWhateverTheNetwork) {
  RunConfig config;
  apply_method(config, "central");
  config.network.topology.degree = 999;
  config.network.faults.active_clients = 999;
  config.validate();
  EXPECT_EQ(config.clients(), 1u);
}

TEST(RunConfig, AFileSaysHowManyClientsThereAre) {
  RunConfig config;
  config.partition.kind = PartitionKind::file;
  config.partition.file = "split.csv";
  config.validate();
  EXPECT_EQ(config.clients(), std::nullopt);
  expect_error(ErrorCode::invalid_argument, "network.degree", [&] { config.validate_network(5); });
  config.validate_network(6);
}

TEST(RunConfig, WorkCountsPicturesForwardAndBackAndThoseAtRestForwardOnce) {
  RunConfig config;
  config.data.domains = {{.name = "mnist"}};
  config.data.train_per_domain = 100;
  config.data.test_per_domain = 10;
  config.run.rounds = 4;
  config.train.epochs = 5;
  config.evaluate = {.every = 0, .clients = 1, .share = 1};
  const double scored = 2 * 10 / 2.0;  // a client and all merged, half as much work as a picture trained on
  EXPECT_DOUBLE_EQ(*config.work(), 4 * 500 + scored);
  config.train.prompt_epochs = 1;
  EXPECT_DOUBLE_EQ(*config.work(), 4 * (100 + 50) + scored);
  config.train.optimizer.sam_radius = 0.05;
  EXPECT_DOUBLE_EQ(*config.work(), 4 * (200 + 50) + scored);
  config.train.prompt_epochs = 0;  // features are kept from round to round
  EXPECT_DOUBLE_EQ(*config.work(), 50 + scored);
}

TEST(RunConfig, HandsTheSeedAndTheDataFolderToThePool) {
  RunConfig config;
  config.run.seed = 7;
  EXPECT_EQ(config.corpus().seed, 7u);
  EXPECT_EQ(config.corpus().root, default_data_root());
  config.data.root = "/data";
  EXPECT_EQ(config.corpus().root, "/data");
  EXPECT_EQ(config.corpus().train_per_domain, 20'000u);
}

}  // namespace
}  // namespace dfrost

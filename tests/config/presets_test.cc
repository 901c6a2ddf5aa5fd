#include "config/presets.h"
#include "config/methods.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/support.h"

namespace dfrost {
namespace {

RunConfig method(const std::string& name) {
  RunConfig config;
  apply_method(config, name);
  config.validate();
  return config;
}

TEST(MethodPresets, EachHaveARowInTheReference) {
  const auto page = read_text_file(std::filesystem::path(DFROST_SOURCE_DIR) / "docs/reference/methods.md");
  for (const auto& preset : method_presets()) {
    const std::string name = preset.name;
    const std::string row = name.ends_with('+') ? "| any of them with `+` |" : "| `" + name + "` |";
    EXPECT_NE(page.find(row), std::string::npos) << name;
  }
}

// The paper's table of methods, row by row.
TEST(MethodPresets, AreThoseOfThePaper) {
  struct Row {
    const char* name;
    OptimizerKind optimizer;
    double momentum, sam_radius;
    std::size_t epochs;
    MergeKind merge;
  };
  for (const Row& row : {Row{"dfrost", OptimizerKind::adam, 0, 0, 5, MergeKind::ot},
                         Row{"d-psgd", OptimizerKind::sgd, 0, 0, 1, MergeKind::average},
                         Row{"dfedavgm", OptimizerKind::sgd, 0.99, 0, 5, MergeKind::average},
                         Row{"dfedsam", OptimizerKind::sgd, 0.99, 0.01, 5, MergeKind::average}}) {
    for (const bool pool : {false, true}) {
      const RunConfig config = method(std::string(row.name) + (pool ? "+" : ""));
      EXPECT_EQ(config.train.optimizer.kind, row.optimizer) << row.name;
      EXPECT_EQ(config.train.optimizer.learning_rate, 1e-4) << row.name;
      EXPECT_EQ(config.train.optimizer.momentum, row.momentum) << row.name;
      EXPECT_EQ(config.train.optimizer.sam_radius, row.sam_radius) << row.name;
      EXPECT_EQ(config.train.epochs, row.epochs) << row.name;
      EXPECT_EQ(config.train.batch, 16u) << row.name;
      EXPECT_EQ(config.merge.kind, row.merge) << row.name;
      EXPECT_EQ(config.merge.head, HeadMerge::average) << row.name;
      EXPECT_EQ(config.prompts.count, 10u) << row.name;
      EXPECT_EQ(config.prompts.pool, pool ? 20u : 0u) << row.name;
      EXPECT_EQ(config.method.cooperation, Cooperation::peers) << row.name;
    }
  }
}

TEST(MethodPresets, DFrostMergesAsThePaperSays) {
  const MergeSection merge = method("dfrost").merge;
  EXPECT_EQ(merge.epsilon, 0.01);
  EXPECT_EQ(merge.lambda, 0.001);
  EXPECT_EQ(merge.sigma2, 1);
  EXPECT_EQ(merge.steps, 50u);
  EXPECT_EQ(merge.dead, DeadPrompts::paper);
  EXPECT_EQ(merge.shrink, Shrink::paper);
  EXPECT_FALSE(merge.early_stop);
  EXPECT_EQ(merge.epsilon_init, 0);
}

TEST(MethodPresets, TheBoundsTrainAsDFrostDoes) {
  for (const auto& [name, cooperation] :
       {std::pair{"local", Cooperation::none}, std::pair{"central", Cooperation::central}}) {
    const RunConfig config = method(name);
    EXPECT_EQ(config.method.cooperation, cooperation);
    EXPECT_EQ(config.train.optimizer.kind, OptimizerKind::adam);
    EXPECT_EQ(config.train.epochs, 5u);
  }
}

TEST(MethodPresets, LeaveNothingOfAnEarlierOneBehind) {
  RunConfig config = method("dfedsam+");
  apply_method(config, "dfrost");
  EXPECT_EQ(config.train.optimizer.sam_radius, 0);
  EXPECT_EQ(config.prompts.pool, 0u);
  EXPECT_EQ(config.merge.kind, MergeKind::ot);
}

TEST(MethodPresets, AnUnknownOneGetsTheNearest) {
  RunConfig config;
  test::expect_error(ErrorCode::invalid_argument, "did you mean 'dfedsam'?",
                     [&] { apply_method(config, "dfedsma"); });
}

TEST(ExperimentPresets, FiveAndFourAreThePapers) {
  const RunConfig five = experiment_preset("five").config, four = experiment_preset("four").config;
  EXPECT_EQ(five.clients(), 50u);
  EXPECT_EQ(five.network.topology.degree, 5u);
  EXPECT_EQ(five.data.train_per_domain, 20'000u);
  EXPECT_EQ(five.data.test_per_domain, 2'000u);
  EXPECT_EQ(four.clients(), 40u);
  EXPECT_EQ(four.network.topology.degree, 4u);
  EXPECT_EQ(four.data.train_per_domain, 30'000u);
  EXPECT_EQ(four.data.test_per_domain, 2'500u);
  for (const RunConfig& config : {five, four}) {
    EXPECT_EQ(config.run.rounds, 40u);
    EXPECT_EQ(config.network.topology.kind, TopologyKind::regular);
    EXPECT_EQ(config.partition.kind, PartitionKind::dirichlet);
    EXPECT_EQ(config.partition.alpha, 0.5);
  }
}

TEST(ExperimentPresets, KeepTheirOwnTrainingWithAnotherMethod) {
  for (const auto& method : method_presets()) {
    const RunConfig demo = with_method(experiment_preset("demo"), method.name);
    EXPECT_EQ(demo.method.name, method.name);
    EXPECT_EQ(demo.train.optimizer.learning_rate, 0.03) << method.name;
    EXPECT_EQ(demo.train.batch, 8u) << method.name;
    EXPECT_EQ(demo.train.epochs, 1u) << method.name;
  }
  const RunConfig sam = with_method(experiment_preset("mine"), "dfedsam+");
  EXPECT_EQ(sam.train.optimizer.learning_rate, 0.01);
  EXPECT_EQ(sam.train.optimizer.momentum, 0.99);
  EXPECT_EQ(sam.train.optimizer.sam_radius, 0.01);
  EXPECT_EQ(sam.prompts.pool, 20u);
  EXPECT_EQ(sam.merge.kind, MergeKind::average);
}

TEST(ExperimentPresets, OfThePaperTrainAsThePaperSaysOfTheMethod) {
  for (const char* name : {"five", "four"}) {
    EXPECT_EQ(with_method(experiment_preset(name), "d-psgd").train.epochs, 1u);
    EXPECT_EQ(with_method(experiment_preset(name), "dfedavgm").train.epochs, 5u);
    EXPECT_EQ(with_method(experiment_preset(name), "local").train.optimizer.learning_rate, 1e-4);
  }
}

TEST(ExperimentPresets, AreAllValid) {
  for (const auto& preset : experiment_presets()) preset.config.validate();
  EXPECT_EQ(experiment_preset("demo").config.clients(), 30u);
}

TEST(Scoring, OfThePapersSettingsIsInFull) {
  for (const char* name : {"five", "four"}) {
    const RunConfig config = experiment_preset(name).config;
    EXPECT_EQ(config.scoring().samples, 0u) << name;
    EXPECT_EQ(config.scoring().clients, 0u) << name;
  }
}

// 40 clients and the network model on 4 domains, once after the last of ten rounds; trained are 4 × 3,000
// pictures, 5 epochs, each as dear as two that are scored: a fifth of all is a quarter of that.
TEST(Scoring, TakesAFifthOfTheWorkWhereAllPicturesWouldTakeMore) {
  RunConfig config = experiment_preset("four").config;
  config.run.rounds = 10;
  config.data.train_per_domain = 3'000;
  EXPECT_EQ(config.scoring().samples, 4u * 3'000 * 5 * 2 * 10 / 4 / (41 * 4));
  config.evaluate.every = 1;
  EXPECT_EQ(config.scoring().samples, 4u * 3'000 * 5 * 2 / 4 / (41 * 4));
  config.evaluate.clients = 9;
  EXPECT_EQ(config.scoring().samples, 4u * 3'000 * 5 * 2 / 4 / (10 * 4));
  EXPECT_EQ(config.scoring().clients, 9u);
  config.data.train_per_domain = 10'000;
  EXPECT_EQ(config.scoring().samples, 0u) << "all 2,500 fit";
}

TEST(Scoring, LooksAtSixtyPicturesOfEachDomainAtLeastAndAtAllWhereAsked) {
  RunConfig config = experiment_preset("four").config;
  config.run.rounds = 3;
  config.data.train_per_domain = 100;
  EXPECT_EQ(config.scoring().samples, kLeastScoredSamples);
  config.evaluate.samples = 40;
  EXPECT_EQ(config.scoring().samples, 40u);
  config.evaluate.samples = 0;
  config.evaluate.share = 1;
  EXPECT_EQ(config.scoring().samples, 0u);
  config.evaluate.share = 0.2;
  config.data.train_per_domain = 0;  // nobody knows how many before they are read
  EXPECT_EQ(config.scoring().samples, 0u);
}

}  // namespace
}  // namespace dfrost

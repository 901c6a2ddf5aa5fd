#include "study/study_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "config/presets.h"
#include "dfrost/error.h"
#include "study/studies.h"

namespace dfrost {
namespace {

StudyPlan plan_of(const std::string& more, const StudyChoice& choice = {.scale = "full"}) {
  return plan_study(parse_study(test::kMergesStudy + more, "merges", "merges.toml", "."), choice);
}

TEST(StudyPlan, HasEveryCombinationUnderEverySeed) {
  const auto plan = plan_of("");
  EXPECT_EQ(plan.cells.size(), 2u * 2u * 4u);
  EXPECT_EQ(plan.runs.size(), plan.cells.size());
  std::set<std::string> folders;
  for (const auto& run : plan.runs) {
    folders.insert(run.folder);
    EXPECT_EQ(run.config.run.name, run.folder);
  }
  EXPECT_EQ(folders.size(), plan.runs.size());
}

TEST(StudyPlan, LaysScaleThenValueThenValueAtThatScaleThenOverridesOverTheBase) {
  const auto plan = plan_of("", {.scale = "minutes", .seeds = {7}, .overrides = {"run.rounds=9"}});
  ASSERT_EQ(plan.runs.size(), 4u);
  const auto& ot = plan.runs[0].config;
  const auto& average = plan.runs[2].config;
  EXPECT_EQ(ot.run.seed, 7u);
  EXPECT_EQ(ot.run.rounds, 9u);
  EXPECT_EQ(ot.train.batch, 8u);
  EXPECT_EQ(average.train.batch, 2u);
  EXPECT_EQ(average.merge.kind, MergeKind::average);
  EXPECT_EQ(ot.train.optimizer.learning_rate, 0.01);
  EXPECT_EQ(ot.evaluate.every, 1u);
  // What nothing was laid over is the preset's.
  EXPECT_EQ(ot.partition.alpha, experiment_preset("demo").config.partition.alpha);
}

TEST(StudyPlan, LetsAMethodBringItsOwnTrainingUnlessThePresetOrTheStudySaysIt) {
  const auto text = std::string(R"(
[base]
preset = "five"
[[axis]]
name = "method"
key = "method.name"
values = ["dfrost", "d-psgd"]
)");
  const auto plan = plan_study(parse_study(text, "methods", "methods.toml", "."), {.seeds = {1}});
  EXPECT_EQ(plan.runs[0].config.train.epochs, 5u);
  EXPECT_EQ(plan.runs[1].config.train.epochs, 1u);
  EXPECT_EQ(plan.runs[1].config.merge.kind, MergeKind::average);
}

TEST(StudyPlan, LeavesOutAndAddsCombinations) {
  const auto plan = plan_of(R"(
[[leave_out]]
merge = "ot"
[[add]]
merge = "ot"
rate = "0.1"
)");
  std::set<std::vector<std::size_t>> kept;
  for (const auto& cell : plan.cells) kept.insert(cell.values);
  EXPECT_EQ(kept, (std::set<std::vector<std::size_t>>{{0, 1}, {1, 0}, {1, 1}}));
}

TEST(StudyPlan, RunsOnceWhatComesOutTheSame) {
  const auto text = std::string(R"(
[base]
preset = "demo"
[[axis]]
name = "rate"
key = "train.learning_rate"
values = [0.1, 0.2]
[[axis]]
name = "epochs"
values = [{name = "a", set = {train.epochs = 1}}, {name = "b", set = {train.epochs = 1}}]
)");
  const auto plan = plan_study(parse_study(text, "same", "same.toml", "."), {.seeds = {1}});
  EXPECT_EQ(plan.cells.size(), 4u);
  EXPECT_EQ(plan.runs.size(), 2u);
}

TEST(StudyPlan, NamesARunByWhatDecidesItsFigures) {
  const auto folder = [](const std::string& change) {
    return plan_of("", {.scale = "full", .seeds = {1}, .overrides = {change}}).runs[0].folder;
  };
  const auto usual = folder("run.threads=1");
  EXPECT_EQ(folder("run.threads=2"), usual);
  EXPECT_EQ(folder("data.cache_mb=0"), usual);
  EXPECT_NE(folder("run.rounds=4"), usual);
  EXPECT_NE(folder("evaluate.clients=2"), usual);
  EXPECT_NE(folder("merge.lambda=0.5"), usual);
}

TEST(StudyPlan, SaysWhichLineMakesNoExperiment) {
  std::string text = test::kMergesStudy;
  const std::string value = "merge.kind = \"ot\"";
  text.replace(text.find(value), value.size(), "merge.kind = \"otter\"");
  try {
    plan_study(parse_study(text, "merges", "merges.toml", "."), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.place(), "merges.toml, line 11, column 61 (merge.kind)");
  }
}

}  // namespace
}  // namespace dfrost

#include "study/kept_results.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "base/version.h"
#include "dfrost/error.h"
#include "study/studies.h"
#include "study/study_text.h"
#include "support/support.h"

namespace dfrost {
namespace {

class KeptResultsTest : public testing::Test {
 protected:
  // Results of the whole study, of which these seeds are done.
  StudyResults results_with(const std::vector<Seed>& seeds) const {
    StudyResults results{study_, "full", "nothing is reduced", plan_.seeds, "dfrost study merges.toml", {}};
    results.version = version();
    for (const auto& planned : plan_.cells) {
      CellResult cell;
      cell.values = planned.values;
      cell.seed = planned.seed;
      cell.folder = plan_.runs[planned.run].folder;
      cell.done = std::ranges::find(seeds, cell.seed) != seeds.end();
      if (cell.done) {
        cell.figures["evaluation.accuracy_masked.mean"] = 0.25;
        cell.curves["evaluation.accuracy_masked.mean"] = {{1, 0.1}, {3, 0.25}};
        cell.seconds = 2;
        cell.precision = cell.seed == 1 ? "bf16" : "fp32";
      }
      results.cells.push_back(cell);
    }
    return results;
  }

  std::filesystem::path written(const StudyResults& results) const {
    const auto file = folder_.path() / "results.json";
    write_file_atomically(file, dump_json(to_json(results), 1));
    return file;
  }

  StudyResults collected(const KeptResults& kept) const {
    return collect_results(study_, plan_, folder_.path() / "runs", kept, {}, "dfrost study merges.toml");
  }

  test::TemporaryFolder folder_;
  Study study_ = test::merges_study();
  StudyPlan plan_ = plan_study(study_, {.scale = "full"});
};

TEST_F(KeptResultsTest, StandForTheRunsThatTheyKnow) {
  KeptResults kept;
  EXPECT_EQ(kept.take(written(results_with({1, 3})), plan_), "");
  const auto to_do = runs_to_do(study_, plan_, folder_.path() / "runs", kept);
  ASSERT_EQ(to_do.size(), 8u);
  const auto results = collected(kept);
  for (const auto& cell : results.cells) EXPECT_EQ(cell.done, cell.seed == 1 || cell.seed == 3);
  EXPECT_EQ(dump_json(to_json(results)), dump_json(to_json(results_with({1, 3}))));
}

TEST_F(KeptResultsTest, OfSeveralFilesAddUp) {
  KeptResults kept;
  for (const Seed seed : {4, 2, 1, 3}) EXPECT_EQ(kept.take(written(results_with({seed})), plan_), "");
  EXPECT_TRUE(runs_to_do(study_, plan_, folder_.path() / "runs", kept).empty());
  EXPECT_EQ(dump_json(to_json(collected(kept))), dump_json(to_json(results_with({1, 2, 3, 4}))));
}

TEST_F(KeptResultsTest, SayInWhichPrecisionsMachinesComputedThem) {
  EXPECT_NE(time_text(results_with({1})).find(" in bf16, "), std::string::npos);
  KeptResults kept;
  kept.take(written(results_with({1, 2})), plan_);
  EXPECT_NE(time_text(collected(kept)).find(" in bf16 and fp32, "), std::string::npos);
}

TEST_F(KeptResultsTest, LeaveWholeSeedsToBeRunOneAfterAnother) {
  KeptResults kept;
  std::vector<Seed> seeds;
  for (const auto run : runs_to_do(study_, plan_, folder_.path() / "runs", kept))
    seeds.push_back(plan_.runs[run].config.run.seed);
  EXPECT_EQ(seeds, (std::vector<Seed>{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4}));
}

TEST_F(KeptResultsTest, OfOtherSettingsOrAnotherVersionArePassedOverAndItIsSaidWhy) {
  KeptResults kept;
  const auto file = written(results_with({1, 2}));
  const auto other = plan_study(study_, {.scale = "full", .overrides = {"run.rounds=4"}});
  EXPECT_EQ(kept.take(file, other), "no run in it that is done has these settings and seeds");
  auto results = results_with({1, 2});
  results.version = "0.0.9";
  EXPECT_NE(kept.take(written(results), plan_).find("it is of dfrost 0.0.9"), std::string::npos);
  results.version.clear();
  EXPECT_EQ(kept.take(written(results), plan_), "it does not say which dfrost made it");
  EXPECT_EQ(runs_to_do(study_, plan_, folder_.path() / "runs", kept).size(), 16u);
}

TEST_F(KeptResultsTest, ThatLackAFigureWhichIsAskedForNowDoNotCount) {
  KeptResults kept;
  EXPECT_EQ(kept.take(written(results_with({1})), plan_), "");
  Study more = study_;
  more.tables[0].figures.push_back("merge_error");
  const auto& run = plan_.runs[plan_.cells[0].run].folder;
  EXPECT_NE(kept.find(run, study_), nullptr);
  EXPECT_EQ(kept.find(run, more), nullptr);
  EXPECT_TRUE(kept.knows(run));
  Study less = study_;
  less.figures.clear();
  EXPECT_NE(kept.find(run, less), nullptr);
}

TEST_F(KeptResultsTest, ThatAreNoneAreRefused) {
  const auto file = folder_.path() / "results.json";
  write_file_atomically(file, std::string("{}"));
  KeptResults kept;
  EXPECT_THROW(kept.take(file, plan_), Error);
}

}  // namespace
}  // namespace dfrost

#include "study/study_targets.h"

#include <gtest/gtest.h>

#include "study/studies.h"
#include "study/study_page.h"
#include "study/study_text.h"

namespace dfrost {
namespace {

constexpr const char* kMaskedAccuracy = "evaluation.accuracy_masked.mean";

// Accuracy by round, in %, of optimal transport and of averaging under each seed, at one rate.
struct Curves {
  std::vector<std::vector<double>> ot, average;
};

StudyResults results_of(const Curves& curves) {
  StudyResults results = test::merges_results({{}, {}, {}, {}});
  std::string text = test::kMergesStudy;
  text.replace(text.find("[[figure]]"), 0, R"([[target]]
name = "soon"
title = "Rounds to an accuracy"
levels = [50, 80]
rows = "merge"
where = {rate = "0.1"}
baseline = {merge = "average"}
reference = {title = "claimed", values = [["ot", "80", 4.6]]}
)");
  results.study = parse_study(text, "merges", "merges.toml", ".");
  for (auto& cell : results.cells) {
    if (cell.values[1] != 1) continue;
    const auto& of = cell.values[0] == 0 ? curves.ot : curves.average;
    if (cell.seed > of.size()) continue;
    cell.done = true;
    for (std::size_t r = 0; r < of[cell.seed - 1].size(); ++r)
      cell.curves[kMaskedAccuracy].emplace_back(r + 1, of[cell.seed - 1][r] / 100);
  }
  return results;
}

MadeTarget target_of(const StudyResults& results) {
  return make_target(results, results.study.targets.at(0));
}

TEST(StudyTarget, IsTheFirstRoundThatReachedItUnderEachSeed) {
  const std::vector<double> fast = {40, 55, 45, 82}, slow = {10, 20, 30, 40, 50, 60, 70, 80};
  const auto target = target_of(results_of({{fast, fast, fast, {81, 10, 10, 10}}, {slow, slow, slow, slow}}));
  ASSERT_EQ(target.rows.size(), 2u);
  const auto& ot = target.rows[0];
  EXPECT_FALSE(ot.is_baseline);
  EXPECT_EQ(rounds_text(ot.cells[0]), "1.8 ± 0.5");  // 2, 2, 2, 1
  EXPECT_EQ(rounds_text(ot.cells[1]), "3.2 ± 1.5");  // 4, 4, 4, 1
  ASSERT_EQ(ot.cells[1].ratios.size(), 4u);
  EXPECT_EQ(ot.cells[1].ratios[0].value, 2);
  EXPECT_EQ(ot.cells[1].ratios[3].value, 8);
  EXPECT_EQ(ratio_text(ot.cells[1]).substr(0, 5), "2.8 [");  // the fourth root of 2·2·2·8
  EXPECT_EQ(ot.cells[1].reference, 4.6);
  EXPECT_FALSE(ot.cells[0].reference);
  EXPECT_TRUE(target.rows[1].is_baseline);
  EXPECT_EQ(rounds_text(target.rows[1].cells[1]), "8.0 ± 0.0");
  EXPECT_TRUE(target.rows[1].cells[1].ratios.empty());
}

TEST(StudyTarget, ThatWasNotReachedEntersNoMeanAndBoundsItsRatio) {
  const std::vector<double> never = {10, 20, 30}, reached = {10, 60, 90};
  const auto target =
      target_of(results_of({{reached, never, reached, reached}, {never, never, {10, 20, 85}, never}}));
  const auto& ot = target.rows[0].cells[1];
  EXPECT_EQ(rounds_text(ot), "3, > 3, 3, 3");
  // Only whom the others never reached; neither did: nothing can be said; both did; as the first.
  ASSERT_EQ(ot.ratios.size(), 3u);
  EXPECT_EQ(ot.ratios[0].known, Bounded::Known::more_than);
  EXPECT_EQ(ot.ratios[1].known, Bounded::Known::exactly);
  EXPECT_EQ(ratio_text(ot), "> 1.0, 1.0, > 1.0");
  EXPECT_EQ(rounds_text(target.rows[1].cells[0]), "> 3, > 3, 3, > 3");
  const auto other =
      target_of(results_of({{never, never, never, never}, {reached, reached, reached, reached}}));
  EXPECT_EQ(rounds_text(other.rows[0].cells[1]), "> 3");
  EXPECT_EQ(ratio_text(other.rows[0].cells[1]), "< 1.0, < 1.0, < 1.0, < 1.0");
}

TEST(StudyTarget, TellsOfSeedsThatAreNotThere) {
  const auto target = target_of(results_of({{{60, 90}, {60, 90}}, {{10, 90}, {10, 90}}}));
  EXPECT_EQ(target.rows[0].cells[0].missing, 2u);
  EXPECT_EQ(rounds_text(target.rows[0].cells[0]), "1.0 ± 0.0");
  EXPECT_EQ(ratio_text(target.rows[0].cells[0]), "2.0, 2.0");  // no mean over fewer seeds than were asked for
  EXPECT_NE(target_markdown(target).find("1.0 ± 0.0 (2 of 4 seeds)"), std::string::npos)
      << target_markdown(target);
  EXPECT_EQ(rounds_text(target_of(results_of({})).rows[0].cells[0]), "-");
}

TEST(StudyTarget, StandsInTextPageAndFileOfAStudy) {
  const std::vector<double> fast = {40, 82}, slow = {10, 20, 30, 82};
  const auto results = results_of({{fast, fast, fast, fast}, {slow, slow, slow, slow}});
  const auto markdown = study_markdown(results);
  EXPECT_NE(markdown.find("| D-FROST & co | 2.0 [2.0, 2.0] | 2.0 [2.0, 2.0] (claimed 4.6) |"),
            std::string::npos)
      << markdown;
  const auto page = study_page(std::span(&results, 1), "t");
  EXPECT_NE(page.find("<td>2.0 [2.0, 2.0] (claimed 4.6)</td>"), std::string::npos);
  EXPECT_EQ(page.find("by <index>"), std::string::npos);
  const auto csv = target_csv(target_of(results));
  EXPECT_NE(csv.find("D-FROST & co,80,\"2, 2, 2, 2\",\"2.000, 2.000, 2.000, 2.000\"\n"), std::string::npos)
      << csv;
  const auto again = results_from_json(to_json(results), "results.json");
  EXPECT_EQ(study_markdown(again), markdown);
  EXPECT_TRUE(wanted_by(results.study).curves.contains(kMaskedAccuracy));
}

}  // namespace
}  // namespace dfrost

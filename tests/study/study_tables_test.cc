#include "study/study_tables.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "dfrost/error.h"
#include "study/studies.h"
#include "study/study_chart.h"
#include "study/study_page.h"
#include "study/study_text.h"

namespace dfrost {
namespace {

const std::vector<std::vector<double>> kAccuracy = {
    {30, 31, 32, 33}, {41.8, 36.1, 39.7, 44.0}, {20, 22}, {39.1, 36.9, 33.5, 40.2}};

TEST(StudyTable, HasMeanAndDeviationOverSeedsAndDifferencesSeedBySeed) {
  const auto results = test::merges_results(kAccuracy);
  const auto table = make_table(results, results.study.tables[0]);
  ASSERT_EQ(table.rows.size(), 2u);
  ASSERT_EQ(table.columns.size(), 4u);  // two rates of two figures
  const auto& cell = table.rows[0].cells[2];
  ASSERT_TRUE(cell.value && cell.difference);
  EXPECT_NEAR(cell.value->mean, 40.4, 1e-12);
  EXPECT_NEAR(cell.difference->mean, 2.975, 1e-12);
  EXPECT_NEAR(*cell.difference->low, -1.655750998114745, 1e-10);
  EXPECT_EQ(cell.reference, 44.5);
  EXPECT_FALSE(table.rows[1].cells[2].difference);  // it is the baseline
  EXPECT_EQ(table.rows[1].cells[0].missing, 2u);
  EXPECT_EQ(table.rows[0].cells[0].difference->seeds, 2u);  // those that both have
  EXPECT_FALSE(table.rows[0].cells[3].value);               // not measured
}

TEST(StudyClaim, IsJudgedByTheIntervalOfThePairedDifference) {
  const auto judge = [](const std::vector<double>& ot, const std::vector<double>& average) {
    const auto results = test::merges_results({{}, ot, {}, average});
    return judge_claim(results, results.study.claims[0]).judgement;
  };
  EXPECT_EQ(judge({41, 42, 43, 44}, {31, 32.5, 33, 34}), Judgement::agrees);
  EXPECT_EQ(judge({31, 32.5, 33, 34}, {41, 42, 43, 44}), Judgement::disagrees);
  EXPECT_EQ(judge(kAccuracy[1], kAccuracy[3]), Judgement::cannot_tell);
  EXPECT_EQ(judge({41}, {31}), Judgement::cannot_tell);  // one seed has no interval
  EXPECT_EQ(judge({41, 42}, {41, 42}), Judgement::cannot_tell);
  EXPECT_EQ(judge({}, {}), Judgement::cannot_tell);
}

TEST(StudyClaim, IsHeldToAsMuchAsItClaims) {
  auto results = test::merges_results({{}, {41, 42, 43}, {}, {31, 32.1, 33}});
  auto claim = results.study.claims[0];
  EXPECT_EQ(judge_claim(results, claim).judgement, Judgement::agrees);
  claim.by = 15;
  EXPECT_EQ(judge_claim(results, claim).judgement, Judgement::disagrees);
}

TEST(StudyPage, DrawsTheNetworkOfEveryRowBesideItsNumbersWhereATableAsksForIt) {
  auto results = test::merges_results(kAccuracy);
  EXPECT_EQ(study_page(std::span(&results, 1), "none").find("class=\"network\""), std::string::npos);
  results.study.tables[0].networks = true;
  for (auto& cell : results.cells) {
    cell.network = StudyNetwork{.clients = 12, .seed = cell.seed};
    cell.network->topology.kind = cell.values[0] == 0 ? TopologyKind::ring : TopologyKind::full;
  }
  const auto page = study_page(std::span(&results, 1), "drawn");
  EXPECT_NE(page.find("alt=\"D-FROST &amp; co: 12 clients, 12 links in round 1 of seed 1\""),
            std::string::npos);
  EXPECT_NE(page.find("alt=\"by &lt;index&gt;: 12 clients, 66 links in round 1 of seed 1\""),
            std::string::npos);
  EXPECT_EQ(page, study_page(std::span(&results, 1), "drawn"));
  const auto kept = network_from_json(to_json(*results.cells[0].network));
  EXPECT_EQ(network_html(kept, "ring"), network_html(*results.cells[0].network, "ring"));
}

TEST(StudyNetwork, IsTheRunsOwnAndNoneWhereNobodyMeets) {
  RunConfig config;
  config.network.topology.kind = TopologyKind::grid;
  config.run.seed = 7;
  const auto network = network_of(config);
  ASSERT_TRUE(network);
  EXPECT_EQ(network->clients, 50u);
  EXPECT_EQ(network->seed, 7u);
  EXPECT_EQ(network->topology.kind, TopologyKind::grid);
  config.method.cooperation = Cooperation::none;
  EXPECT_FALSE(network_of(config));
}

TEST(StudyResults, SayTheSameAfterTheirFile) {
  const auto results = test::merges_results(kAccuracy);
  const auto again = results_from_json(parse_own_json(dump_json(to_json(results), 1)), "results.json");
  EXPECT_EQ(study_page(std::span(&again, 1), "again"), study_page(std::span(&results, 1), "again"));
  EXPECT_EQ(study_markdown(again), study_markdown(results));
  EXPECT_EQ(dump_json(to_json(again)), dump_json(to_json(results)));
}

TEST(StudyResults, ThatAreNoneAreRefused) {
  for (const char* text : {"", "[]", "{}", "{\"schema\": 99}", "{\"schema\": 1, \"name\": 3}"}) {
    EXPECT_THROW(results_from_json(parse_own_json(text), "results.json"), Error) << text;
  }
}

TEST(StudyText, WritesTheSameNumbersAsMarkdownLatexAndCsv) {
  const auto results = test::merges_results(kAccuracy);
  const auto table = make_table(results, results.study.tables[0]);
  const auto markdown = study_markdown(results);
  EXPECT_NE(markdown.find("40.40 ± 3.36 (paper 44.50)"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("[-1.66, +7.61]"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("21.00 ± 1.41 (2 of 4 seeds)"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("2 of 16 combinations of axes and seeds are not there: 1 of seed 3, 1 of seed 4."),
            std::string::npos);
  const auto latex = table_latex(table);
  EXPECT_NE(latex.find("D-FROST \\& co & 31.50 $\\pm$ 1.29"), std::string::npos) << latex;
  const auto csv = table_csv(table);
  EXPECT_NE(csv.find("D-FROST & co,0.1,evaluation.accuracy_masked.mean,%,40.4"), std::string::npos) << csv;
}

TEST(StudyPage, TakesNoLabelForMarkup) {
  const auto results = test::merges_results(kAccuracy);
  const auto page = study_page(std::span(&results, 1), "Which <merge>?");
  EXPECT_EQ(page.find("<index>"), std::string::npos);
  EXPECT_NE(page.find("by &lt;index&gt;"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
}

TEST(StudyChart, DrawsAPointForEveryRoundAndLine) {
  const auto results = test::merges_results(kAccuracy);
  const auto chart = make_chart(results, results.study.figures[0]);
  ASSERT_EQ(chart.lines.size(), 2u);
  ASSERT_EQ(chart.lines[0].points.size(), 2u);
  EXPECT_EQ(chart.lines[0].points[1].x, 3);
  EXPECT_NEAR(chart.lines[0].points[1].y, 40.4, 1e-12);
  const auto svg = chart_svg(chart);
  std::size_t dots = 0;
  for (std::size_t at = 0; (at = svg.find("<circle", at)) != std::string::npos; ++at) ++dots;
  EXPECT_EQ(dots, 4u);
  EXPECT_NO_THROW(chart_svg(MadeChart{}));
}

TEST(StudyChart, DrawsEqualFactorsAsEqualStepsOnALogarithmicScale) {
  MadeChart chart{.title = "t", .log = true};
  chart.lines = {{"grows", {{1, 10, 0}, {2, 100, 0}, {3, 1000, 2000}}}};
  const auto svg = chart_svg(chart);
  std::vector<double> heights;
  for (std::size_t at = 0; (at = svg.find("cy=\"", at)) != std::string::npos; ++at)
    heights.push_back(std::stod(svg.substr(at + 4)));
  ASSERT_EQ(heights.size(), 3u);
  EXPECT_NEAR(heights[0] - heights[1], heights[1] - heights[2], 0.11);
  EXPECT_GT(heights[0] - heights[1], 20);
  EXPECT_EQ(svg.find("nan"), std::string::npos);  // where a band reaches below zero
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  for (const char* tick : {">10<", ">100<", ">1000<"}) EXPECT_NE(svg.find(tick), std::string::npos) << tick;
}

}  // namespace
}  // namespace dfrost

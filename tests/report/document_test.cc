#include "report/document.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "report/curves_csv.h"
#include "report/page_template.h"
#include "report/run_folders.h"
#include "support/support.h"

namespace dfrost {
namespace {

// The document as a browser reads it: the text of the script element, parsed.
Json document_in(const std::string& page) {
  const std::string opening = "id=\"dfrost-data\"";
  const auto start = page.find('>', page.find(opening)) + 1;
  return Json::parse(page.substr(start, page.find("</script", start) - start));
}

class ReportPage : public testing::Test {
  void SetUp() override {
    if (page_template().empty()) GTEST_SKIP() << "this build is without the page";
  }
};

TEST_F(ReportPage, HoldsTheRecordsAsTheyAre) {
  const test::TemporaryFolder folder;
  test::make_run(folder / "a");
  const std::vector<RunRecords> runs = {read_run(folder / "a")};
  const Json document = document_in(report_page(report_document(runs)));
  EXPECT_EQ(document["schema"], 1);
  EXPECT_EQ(document["live"], false);
  EXPECT_EQ(document["title"], "sample");
  const Json& run = document["runs"][0];
  EXPECT_EQ(run["folder"], "a");
  EXPECT_EQ(run["rounds"][1], test::sample_round(2));
  EXPECT_EQ(run["merges"][1], test::sample_merge(2));
  EXPECT_EQ(run["summary"], test::sample_summary("sample", 1, 0.5));
  EXPECT_EQ(run["config"], test::sample_config("sample", 1));
  EXPECT_TRUE(run["paper"].is_null());
  EXPECT_EQ(document["groups"][0]["accuracy_masked"]["mean"], 0.5);
}

TEST_F(ReportPage, LetsNoTextOutOfItsScriptElement) {
  const std::string hostile[] = {"</script><script>alert(1)</script>",
                                 "<!--<script>",
                                 "]]>&amp;\"'\\",
                                 "\u2028\u2029",
                                 "Ünïcode ✓ 日本語 عربى",
                                 std::string("nul\0byte", 8),
                                 std::string(kPageDataMarker),
                                 std::string(100'000, 'x')};
  const std::string empty_page = report_page(Json::object());
  for (const auto& text : hostile) {
    const Json document = {{"title", text}, {text, "a key"}};
    const std::string page = report_page(document);
    EXPECT_EQ(document_in(page), document);
    const std::string json = script_safe(document);
    EXPECT_EQ(page.size(), empty_page.size() - 2 + json.size());
    EXPECT_EQ(json.find_first_of("<>&"), std::string::npos);
    EXPECT_EQ(json.find("\u2028"), std::string::npos);
  }
}

TEST_F(ReportPage, ReplacesBytesThatAreNotUtf8) {
  const std::string page = report_page(Json{{"title", "bad \xff\xc3( byte"}});
  EXPECT_EQ(document_in(page)["title"], "bad \ufffd\ufffd( byte");
}

// As the paper's setting leaves it: 50 clients of degree 5, 10 prompts, all rounds scored.
RunRecords large_run() {
  RunRecords run;
  run.name = run.folder = "large";
  run.summary = test::sample_summary("large", 1, 0.5);
  RandomStream random(1, "large");
  const auto coordinate = [&] { return std::round(1e4 * random.normal()) / 1e4; };
  const auto points = [&](std::size_t count) {
    Json list = Json::array();
    for (std::size_t i = 0; i < count; ++i) list.push_back({coordinate(), coordinate()});
    return list;
  };
  for (std::size_t round = 1; round <= 40; ++round) {
    Json record = test::sample_round(round);
    for (std::size_t i = 0; i < 125; ++i)
      record["graph"]["links"].push_back({random.below(50), random.below(50)});
    for (std::size_t i = 0; i < 80; ++i)
      record["evaluation"]["domains"][std::to_string(i)] = random.uniform();
    run.rounds.push_back(record);
    for (std::size_t client = 0; client < 50; client += 10) {
      Json merge = test::sample_merge(round);
      merge["client"] = client;
      for (std::size_t s = 0; s < 5; ++s) merge["senders"].push_back({{"client", s}, {"points", points(10)}});
      merge["merged"] = points(10);
      for (std::size_t i = 0; i < 120; ++i) {
        merge["plan"].push_back({random.below(6), random.below(10), random.below(10), 0.5});
      }
      run.merges.push_back(merge);
    }
  }
  run.about = {{"partition", std::vector<std::vector<std::size_t>>(50, std::vector<std::size_t>(50, 123))}};
  return run;
}

TEST_F(ReportPage, OfFortyRoundsAndFiftyClientsStaysUnderOneAndAHalfMegabytes) {
  const std::vector<RunRecords> runs = {large_run()};
  const Json document = report_document(runs);
  EXPECT_LT(report_page(document).size(), 1'500'000u);
  EXPECT_EQ(document["runs"][0]["rounds"].size(), 40u);
}

TEST(ReportDocument, LeavesOutMergesEvenlyAndNeverThoseOfTheLastRound) {
  const std::vector<RunRecords> runs = {large_run()};
  const std::size_t limit = 100'000;
  const Json merges = report_document(runs, {.merge_bytes = limit})["runs"][0]["merges"];
  ASSERT_FALSE(merges.empty());
  EXPECT_LT(merges.dump().size(), limit + limit / 2);
  EXPECT_EQ(merges.back()["round"], 40);
  EXPECT_EQ(merges.size() % 5, 0u);  // whole rounds
  const auto step = merges[5]["round"].get<int>() - merges[0]["round"].get<int>();
  EXPECT_GT(step, 1);
  for (std::size_t i = 5; i < merges.size(); i += 5) {
    EXPECT_EQ(merges[i]["round"].get<int>() - merges[i - 5]["round"].get<int>(), step);
  }
}

TEST(CurvesCsv, HasALinePerRoundAndAColumnPerScalar) {
  std::vector<Json> rounds = {
      {{"schema", 1}, {"round", 1}, {"loss", 0.5}, {"list", {1, 2}}},
      {{"schema", 1}, {"round", 2}, {"loss", nullptr}, {"deep", {{"a,b", true}, {"t", "=1+\"1\""}}}}};
  EXPECT_EQ(curves_csv(rounds),
            "round,schema,loss,\"deep.a,b\",deep.t\r\n"
            "1,1,0.5,,\r\n"
            "2,1,,true,\"'=1+\"\"1\"\"\"\r\n");
  EXPECT_EQ(curves_csv({}), "round\r\n");
}

}  // namespace
}  // namespace dfrost

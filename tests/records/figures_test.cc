// The table of figures: all that is recorded of a round is in it, and what is made from it agrees with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "base/file.h"
#include "records/figure_reference.h"
#include "records/record_json.h"

namespace dfrost {
namespace {

using Json = nlohmann::ordered_json;

// A round with everything in it.
RoundRecord full_record() {
  RoundRecord record;
  record.round = 1;
  record.train_loss = record.merge_error = record.off_index_mass = 0.5;
  record.graph.emplace();
  record.theory.emplace();
  record.class_mass.emplace();
  record.kernel.emplace();
  record.privacy.emplace();
  record.membership.emplace();
  record.attack.emplace();
  record.attack->mass = record.attack->distance = 0.5;
  record.attack->honest.emplace();
  record.attack->backdoor_success = 0.5;
  record.defence.emplace();
  record.evaluation.emplace();
  record.evaluation->domains = record.evaluation->network_domains = {{"mnist", 0.5, 0.25}};
  return record;
}

// What a line holds besides figures: all of it lists, maps, or what the line is.
const std::set<std::string> kNoFigures = {"schema",
                                          "round",
                                          "graph",
                                          "class_mass.total",
                                          "privacy.clients",
                                          "attack.clients",
                                          "defence.doubted",
                                          "evaluation.clients",
                                          "evaluation.domains",
                                          "evaluation.network_domains"};

// The names of a line's fields, objects taken apart unless they are no figures.
void collect_names(const Json& json, const std::string& prefix, std::vector<std::string>& names) {
  for (const auto& [key, value] : json.items()) {
    const std::string name = prefix + key;
    if (value.is_object() && !kNoFigures.contains(name)) {
      collect_names(value, name + ".", names);
    } else {
      names.push_back(name);
    }
  }
}

const Figure& figure_named(std::string_view name) {
  for (const auto& figure : figures()) {
    if (figure.name == name) return figure;
  }
  throw std::out_of_range(std::string(name));
}

TEST(Figures, AreAllThatALineOfMetricsHoldsBesideWhatIsNoNumber) {
  std::vector<std::string> written;
  collect_names(to_json(full_record()), "", written);
  std::set<std::string> expected = kNoFigures;
  for (const auto& figure : figures()) expected.insert(std::string(figure.name));
  EXPECT_EQ(std::set<std::string>(written.begin(), written.end()), expected);
  EXPECT_EQ(written.size(), kNoFigures.size() + figures().size()) << "a figure stands there twice";
}

TEST(Figures, AreWrittenAsTheyAreRead) {
  RoundRecord record = full_record();
  record.sent_bytes = (std::uint64_t{1} << 53) - 1;
  record.evaluation->accuracy_unmasked.std = 0.125;
  const Json line = Json::parse(to_json(record).dump());
  EXPECT_EQ(line["sent_bytes"].dump(), "9007199254740991");
  EXPECT_EQ(line["mixing_factor"].dump(), "0.0");
  EXPECT_EQ(line["evaluation"]["accuracy_unmasked"]["std"], 0.125);
  for (const auto& figure : figures()) EXPECT_TRUE(figure.of(record)) << figure.name;
}

TEST(Figures, OfPartsThatARoundDoesNotHaveAreLeftOut) {
  const Json line = to_json(RoundRecord{});
  EXPECT_FALSE(line.contains("evaluation"));
  EXPECT_FALSE(line.contains("theory"));
  EXPECT_FALSE(figure_named("evaluation.loss").of(RoundRecord{}));
  EXPECT_TRUE(std::isnan(figure_named("merge_error").of(RoundRecord{}).value()));
}

TEST(Figures, SayWhatTheyMeanInWordsThatATableCanHold) {
  std::set<std::string_view> tags, columns;
  std::set<int> places;
  for (const auto& figure : figures()) {
    EXPECT_FALSE(figure.title.empty()) << figure.name;
    EXPECT_TRUE(figure.meaning.ends_with('.')) << figure.name;
    // A bar ends a cell, and the page shows no markup.
    EXPECT_EQ(figure.meaning.find_first_of("|`<\n"), std::string_view::npos) << figure.name;
    EXPECT_TRUE(figure.event.empty() || tags.insert(figure.event).second) << figure.event;
    if (figure.column.place == 0) continue;
    EXPECT_NE(figure.summary, Summary::none) << figure.name << " cannot be compared: summary.json lacks it";
    EXPECT_FALSE(figure.column.heading.empty()) << figure.name;
    EXPECT_TRUE(columns.insert(figure.column.name).second) << figure.column.name;
    places.insert(figure.column.place);
  }
  EXPECT_EQ(places.size(), columns.size());
  EXPECT_EQ(*places.begin(), 1);
  EXPECT_EQ(*places.rbegin(), static_cast<int>(places.size()));
}

TEST(Figures, OfTheSummaryAreWhereTheTableSays) {
  const RoundRecord last = full_record();
  const Json record = to_json(last);
  const Json summary = summary_json(RunConfig{}, 4, record, RunTotals{}, record["evaluation"]);
  for (const auto& figure : figures()) {
    std::string path = summary_path(figure);
    if (path.empty()) continue;
    std::ranges::replace(path, '.', '/');
    EXPECT_TRUE(summary.contains(Json::json_pointer("/" + path))) << figure.name;
  }
  EXPECT_EQ(summary_path(figure_named("evaluation.accuracy_masked.mean")), "final.accuracy_masked.mean");
  EXPECT_EQ(summary_path(figure_named("consensus_error")), "final.consensus_error");
  EXPECT_EQ(summary_path(figure_named("seconds.total")), "seconds.total");
  EXPECT_EQ(summary_path(figure_named("edges")), "");
}

TEST(Figures, OfTheDocumentHaveAWordForEveryForm) {
  const Json list = figures_json();
  ASSERT_EQ(list.size(), figures().size());
  for (const auto& figure : list) EXPECT_NE(figure["form"], "") << figure["name"];
}

TEST(Figures, ThePageInTheDocumentationIsUpToDate) {
  const auto path = std::filesystem::path(DFROST_SOURCE_DIR) / "docs/reference/records.md";
  const std::string page = read_text_file(path);
  const std::string start = "<!-- what follows is made by dfrost export --figures --markdown -->\n";
  const auto from = page.find(start) + start.size();
  ASSERT_GT(from, start.size());
  EXPECT_EQ(page.substr(from, page.find("<!-- end of figures -->") - from), figures_markdown())
      << "put what dfrost export --figures --markdown prints between the two marks";
}

}  // namespace
}  // namespace dfrost

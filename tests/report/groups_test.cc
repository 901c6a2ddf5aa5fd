#include "report/groups.h"

#include <gtest/gtest.h>

#include "report/run_folders.h"
#include "support/numbers.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::make_run;

TEST(MeanStd, IsThatOfPythonsStatistics) {
  RandomStream random(1, "groups");
  test::NumberWriter writer;
  writer.add(std::size_t{6});
  std::vector<std::vector<double>> lists;
  for (std::size_t i = 0; i < 6; ++i) {
    auto& list = lists.emplace_back(i + 1);
    for (double& value : list) value = 0.8 + 0.01 * random.normal();
    writer.add(list.size()).add_all(list);
  }
  const test::TemporaryFolder folder;
  writer.save(folder / "in");
  test::run_python("report/groups_oracle.py", (folder / "in").string() + " " + (folder / "out").string());
  const auto expected = test::read_numbers(folder / "out");
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(mean_std(lists[i])->mean, expected[2 * i], 1e-14);
    EXPECT_NEAR(mean_std(lists[i])->std, expected[2 * i + 1], 1e-14);
  }
  EXPECT_FALSE(mean_std({}));
}

TEST(GroupRuns, PutsTogetherWhatDiffersOnlyInNameSeedAndWhatChangesNoResult) {
  const test::TemporaryFolder folder;
  make_run(folder / "a", "a", 1, 0.5,
           "threads = 1\n[data]\nroot = \"/here\"\n[diagnostics]\ntheory = true\n");
  make_run(folder / "b", "b", 2, 0.6,
           "threads = 2\n[data]\nroot = \"/there\"\n[diagnostics]\ntheory = false\n");
  make_run(folder / "c", "c", 3, 0.9, "[merge]\nkind = \"average\"\n");
  std::vector<RunRecords> runs;
  for (const char* name : {"a", "c", "b"}) runs.push_back(read_run(folder / name));
  const auto groups = group_runs(runs);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].runs, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(groups[0].seeds, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_NEAR(groups[0].figures[0]->mean, 0.55, 1e-12);
  EXPECT_NEAR(groups[0].figures[0]->std, 0.1 / std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(groups[0].figures[5]->mean, 55, 1e-12);
  EXPECT_EQ(groups[1].runs, std::vector<std::size_t>{1});
  EXPECT_EQ(groups[1].figures[0]->std, 0);
  EXPECT_EQ(groups[1].label, "D-FROST, merge.kind average");
}

TEST(GroupRuns, KeepsAnUnfinishedRunApart) {
  const test::TemporaryFolder folder;
  make_run(folder / "a", "a", 1);
  make_run(folder / "b", "b", 2);
  Json summary = test::sample_summary("b", 2, 0.3);
  summary["rounds"] = 1;
  test::write_text(folder / "b/summary.json", summary.dump());
  const std::vector<RunRecords> runs = {read_run(folder / "a"), read_run(folder / "b")};
  const auto groups = group_runs(runs);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].label, "D-FROST (a)");
  EXPECT_EQ(groups[1].label, "D-FROST (b)");
}

std::vector<std::string> labels_of(const std::vector<RunRecords>& runs) {
  std::vector<std::string> labels;
  for (const auto& group : group_runs(runs)) labels.push_back(group.label);
  return labels;
}

TEST(GroupRuns, CountsNoSeedTwice) {
  const test::TemporaryFolder folder;
  make_run(folder / "a", "a", 1);
  make_run(folder / "again", "again", 1);
  make_run(folder / "b", "b", 2);
  make_run(folder / "c", "c", 2);
  std::vector<RunRecords> runs;
  for (const char* name : {"a", "again", "b", "c"}) runs.push_back(read_run(folder / name));
  const auto groups = group_runs(runs);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].runs, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(groups[1].runs, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(labels_of(runs), (std::vector<std::string>{"D-FROST (a)", "D-FROST (again)"}));
}

TEST(GroupRuns, KeepsRunsOnOtherPicturesApartThoughTheirFoldersHaveOneName) {
  const test::TemporaryFolder folder;
  const auto run_on = [&](const std::string& place, std::uint64_t seed, std::size_t pictures,
                          const Json& classes, const std::string& more = "") {
    make_run(folder / place, place, seed, 0.5,
             "[data]\ndomains = [{name = \"mine\", path = \"/" + place + "/pictures\"}]\n" + more);
    const Json domain = {{"name", "mine"}, {"classes", classes}, {"train", pictures}, {"test", 4}};
    test::write_text((folder / place) / "about.json",
                     Json{{"method", "dfrost"}, {"seed", seed}, {"domains", Json::array({domain})}}.dump());
    return read_run(folder / place);
  };
  const Json pets = {"cat", "dog"}, birds = {"tit", "owl"};
  const std::vector<RunRecords> runs = {run_on("a", 1, 16, pets), run_on("b", 2, 16, pets),
                                        run_on("c", 3, 17, pets), run_on("d", 4, 16, birds),
                                        run_on("e", 5, 16, pets, "[merge]\nsteps = 5\n")};
  EXPECT_EQ(group_runs(runs).front().runs, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(labels_of(runs), (std::vector<std::string>{"D-FROST (a)", "D-FROST (c)", "D-FROST (d)",
                                                       "D-FROST, merge.steps 5"}));
}

TEST(GroupRuns, TakesRecordsOfAnyKindWithoutFigures) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "a/metrics.jsonl", "");
  make_run(folder / "b");
  test::write_text(folder / "b/summary.json",
                   R"({"final": [1], "seconds": "long", "seed": -1, "method": 7})");
  test::write_text(folder / "b/config.toml", "run = 5\n[merge\n");
  const std::vector<RunRecords> runs = {read_run(folder / "a"), read_run(folder / "b")};
  const auto groups = group_runs(runs);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].label, "a");
  for (const auto& group : groups) {
    for (const auto& figure : group.figures) EXPECT_FALSE(figure);
    EXPECT_TRUE(to_json(group)["accuracy_masked"].is_null());
  }
}

}  // namespace
}  // namespace dfrost

#include "report/run_reader.h"

#include <gtest/gtest.h>

#include "report/run_folders.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::append_text;
using test::make_run;
using test::sample_round;
using test::write_text;

TEST(ReadRun, GivesTheRecordsAsTheyAre) {
  const test::TemporaryFolder folder;
  make_run(folder / "a");
  const auto run = read_run(folder / "a/");  // however the path is written
  EXPECT_EQ(run.name, "sample");
  EXPECT_EQ(run.folder, "a");
  EXPECT_EQ(run.rounds, (std::vector<Json>{sample_round(1), sample_round(2)}));
  EXPECT_EQ(run.merges.size(), 2u);
  EXPECT_EQ(run.summary, test::sample_summary("sample", 1, 0.5));
  EXPECT_EQ(run.config, test::sample_config("sample", 1));
  EXPECT_EQ(run.problems, std::vector<std::string>());
}

TEST(ReadRun, ShowsTheRoundsBeforeALineThatEndsInTheMiddle) {
  const test::TemporaryFolder folder;
  make_run(folder / "a");
  append_text(folder / "a/metrics.jsonl", R"({"schema":1,"round":3,"train_lo)");
  const auto run = read_run(folder / "a");
  EXPECT_EQ(run.rounds.size(), 2u);
  EXPECT_EQ(run.problems,
            std::vector<std::string>{"metrics.jsonl ends in the middle of line 3: 2 rounds are shown"});
}

TEST(ReadRun, SaysWhichLinesAndFilesAreDamagedAndShowsTheRest) {
  const test::TemporaryFolder folder;
  make_run(folder / "a");
  write_text(folder / "a/metrics.jsonl",
             sample_round(1).dump() + "\n\xff\x01\n[1]\n{}\n" + sample_round(2).dump() + "\n");
  write_text(folder / "a/summary.json", "{");
  const auto run = read_run(folder / "a");
  EXPECT_EQ(run.rounds.size(), 2u);
  EXPECT_TRUE(run.summary.is_null());
  EXPECT_EQ(run.problems, (std::vector<std::string>{"summary.json is not JSON: it is left out",
                                                    "line 2 of metrics.jsonl is not a record: it is left out",
                                                    "line 3 of metrics.jsonl is not a record: it is left out",
                                                    "a line of metrics.jsonl has no round: it is left out"}));
}

TEST(ReadRun, TellsThatANewerVersionWroteIt) {
  const test::TemporaryFolder folder;
  make_run(folder / "a");
  Json newer = sample_round(3);
  newer["schema"] = 2;
  newer["unheard_of"] = {1, 2};
  append_text(folder / "a/metrics.jsonl", newer.dump() + "\n");
  const auto run = read_run(folder / "a");
  EXPECT_EQ(run.rounds.back(), newer);
  ASSERT_EQ(run.problems.size(), 1u);
  EXPECT_NE(run.problems[0].find("newer version"), std::string::npos);
}

TEST(ReadRun, OfAnEmptyRunIsARunWithoutRounds) {
  const test::TemporaryFolder folder;
  write_text(folder / "a/metrics.jsonl", "");
  const auto run = read_run(folder / "a");
  EXPECT_EQ(run.name, "a");
  EXPECT_EQ(run.problems, std::vector<std::string>{"no round is complete yet"});
}

TEST(ReadRun, SaysThatRoundsAreMissingUnlessItIsWatched) {
  const test::TemporaryFolder folder;
  make_run(folder / "a");
  write_text(folder / "a/config.toml", "[run]\nrounds = 5\n");
  const auto run = read_run(folder / "a");
  EXPECT_EQ(run.planned_rounds, 5u);
  EXPECT_EQ(run.problems,
            std::vector<std::string>{"2 of 5 rounds are done: if it was stopped, go on with --resume"});
  RunReader live(folder / "a");
  live.poll();
  EXPECT_TRUE(live.records().problems.empty());
  for (const char* none : {"-5", "\"five\"", "5.5"}) {
    write_text(folder / "a/config.toml", "[run]\nrounds = " + std::string(none) + "\n");
    EXPECT_FALSE(read_run(folder / "a").planned_rounds) << none;
  }
}

TEST(ReadRun, OfARunOfNoRoundsHasNoProblem) {
  const test::TemporaryFolder folder;
  make_run(folder / "a");
  write_text(folder / "a/config.toml", "[run]\nrounds = 0\n");
  write_text(folder / "a/metrics.jsonl", "");
  EXPECT_EQ(read_run(folder / "a").problems, std::vector<std::string>());
  std::filesystem::remove(folder / "a/summary.json");
  EXPECT_EQ(read_run(folder / "a").problems, std::vector<std::string>{"no round is complete yet"});
}

TEST(ReadRun, RefusesWhatIsNoRunAndHintsAtThoseNearby) {
  const test::TemporaryFolder folder;
  make_run(folder / "runs/first");
  make_run(folder / "runs/second");
  const auto expect_hint = [&](const std::string& path, const std::string& hint) {
    test::expect_error(ErrorCode::not_found, hint, [&] { read_run(folder / path); });
  };
  expect_hint("runs", "it has runs in it: first, second");
  expect_hint("runs/frist", "first'?");
  expect_hint("runs/first/metrics.jsonl", "not a file in it");
  expect_hint("elsewhere", "runs/NAME");
}

TEST(ReadRun, DoesNotFollowNestingThatNoRecordHas) {
  const test::TemporaryFolder folder;
  make_run(folder / "a");
  const std::string deep = R"({"round":3,"x":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  append_text(folder / "a/metrics.jsonl", deep + "\n");
  std::string keys = "[run]\n";
  for (int i = 0; i < 50'000; ++i) keys += "a.";
  write_file_atomically(folder / "a/config.toml", keys + "a = 1\n");
  write_file_atomically(folder / "a/about.json", deep);
  const auto run = read_run(folder / "a");
  EXPECT_EQ(run.rounds.size(), 2u);
  EXPECT_FALSE(run.planned_rounds);
}

TEST(ReadRun, FollowsNoLinkOutOfTheFolder) {
  const test::TemporaryFolder folder;
  make_run(folder / "a");
  make_run(folder / "b", "secret");
  for (const char* name : {"config.toml", "about.json", "metrics.jsonl", "summary.json"}) {
    std::filesystem::remove((folder / "a") / name);
    std::filesystem::create_symlink((folder / "b") / name, (folder / "a") / name);
  }
  const auto run = read_run(folder / "a");
  EXPECT_FALSE(run.config);
  EXPECT_EQ(run.name, "a");
  EXPECT_TRUE(run.rounds.empty());
  EXPECT_TRUE(run.summary.is_null());
}

TEST(RunReader, SeesARunBeginGrowResumeVanishAndComeBack) {
  const test::TemporaryFolder folder;
  const auto run = folder / "late";
  RunReader reader(run);
  EXPECT_FALSE(reader.poll().any());
  EXPECT_FALSE(reader.is_run());

  make_run(run);
  EXPECT_TRUE(reader.poll().replaced);
  EXPECT_TRUE(reader.is_run());
  EXPECT_EQ(reader.records().rounds.size(), 2u);
  EXPECT_FALSE(reader.poll().any());

  // Half a line is not there yet.
  const std::string line = sample_round(3).dump();
  append_text(run / "metrics.jsonl", line.substr(0, 30));
  EXPECT_FALSE(reader.poll().any());
  append_text(run / "metrics.jsonl", line.substr(30) + "\n");
  auto changes = reader.poll();
  EXPECT_FALSE(changes.replaced);
  EXPECT_EQ(changes.rounds, 1u);
  EXPECT_EQ(reader.records().rounds.back(), sample_round(3));

  write_text(run / "summary.json", test::sample_summary("sample", 1, 0.75).dump());
  changes = reader.poll();
  EXPECT_TRUE(changes.summary);
  EXPECT_EQ(changes.rounds, 0u);

  // Resumed after round 1: another file takes the place.
  write_text(run / "new", sample_round(1).dump() + "\n");
  std::filesystem::rename(run / "new", run / "metrics.jsonl");
  EXPECT_TRUE(reader.poll().replaced);
  EXPECT_EQ(reader.records().rounds.size(), 1u);

  std::filesystem::remove_all(run);
  EXPECT_TRUE(reader.poll().replaced);
  EXPECT_FALSE(reader.is_run());
  EXPECT_TRUE(reader.records().rounds.empty());
  make_run(run);
  EXPECT_TRUE(reader.poll().replaced);
  EXPECT_EQ(reader.records().rounds.size(), 2u);
}

}  // namespace
}  // namespace dfrost

#include "records/savepoint_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "support/support.h"

namespace dfrost {
namespace {

Savepoint checkpoint_of_round(std::size_t round) {
  Savepoint checkpoint{
      .round = round,
      .fingerprint = "print",
      .totals = {},
      .nodes = {.layouts = {{2, {{"prompts", {1, 1}}}, {}}, {1, {{"prompts", {1}}}, {{"last", {2}}}}},
                .values = {1.5f, -2.0f, static_cast<float>(round)},
                .memory = {4.0f, -0.5f}}};
  checkpoint.totals.rounds = round;
  checkpoint.totals.seconds.train = 1.0 / 3.0;
  checkpoint.totals.sent_bytes = (std::uint64_t{1} << 60) + 1;
  return checkpoint;
}

TEST(Savepoint, ComesBackAsItWasAndTheLastTwoAreKept) {
  const test::TemporaryFolder folder;
  for (const std::size_t round : {8, 9, 10}) write_savepoint(folder.path(), checkpoint_of_round(round));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
  const auto found = newest_savepoint(folder.path());
  ASSERT_TRUE(found.checkpoint);
  const auto expected = checkpoint_of_round(10);
  EXPECT_EQ(found.checkpoint->round, 10u);
  EXPECT_EQ(found.checkpoint->nodes, expected.nodes);
  EXPECT_EQ(found.checkpoint->fingerprint, "print");
  EXPECT_EQ(found.checkpoint->totals.seconds.train, expected.totals.seconds.train);
  EXPECT_EQ(found.checkpoint->totals.sent_bytes, expected.totals.sent_bytes);
}

TEST(Savepoint, HoldsWhatOptimizersKeepAndNothingOfThemWhereTheyStartFresh) {
  const test::TemporaryFolder folder;
  write_savepoint(folder.path(), checkpoint_of_round(1));
  EXPECT_EQ(read_text_file(folder / "round-000001.safetensors").find("optimizer"), std::string::npos);
  auto kept = checkpoint_of_round(2);
  kept.nodes.optimizer_steps = {0, (std::uint64_t{1} << 60) + 1};
  // Plain SGD counts its steps and remembers nothing else.
  for (const auto& values : {std::vector<float>{0.25f, -1e-30f}, std::vector<float>{}}) {
    kept.nodes.optimizer_values = values;
    write_savepoint(folder.path(), kept);
    const auto found = newest_savepoint(folder.path());
    ASSERT_TRUE(found.checkpoint) << found.damaged.front();
    EXPECT_EQ(found.checkpoint->nodes, kept.nodes);
  }
}

TEST(Savepoint, IsDamagedWhereWhatAnOptimizerKeptWasChanged) {
  const test::TemporaryFolder folder;
  auto kept = checkpoint_of_round(7);
  kept.nodes.optimizer_steps = {31, 41};
  kept.nodes.optimizer_values = {0.25f, 0.5f};
  write_savepoint(folder.path(), kept);
  const auto path = folder / "round-000007.safetensors";
  const auto whole = read_text_file(path);
  const float changed = 0.25f;
  const auto moment = whole.find(std::string(reinterpret_cast<const char*>(&changed), sizeof changed));
  for (const auto& place : {whole.find("31,41"), moment, whole.find("optimizer\":{")}) {
    ASSERT_NE(place, std::string::npos);
    auto text = whole;
    text[place] = static_cast<char>(text[place] + 1);
    write_file_atomically(path, text);
    const auto found = newest_savepoint(folder.path());
    EXPECT_FALSE(found.checkpoint) << place;
    EXPECT_EQ(found.damaged.size(), 1u);
  }
}

TEST(Savepoint, OfAnotherFormatIsNamedAsSuch) {
  const test::TemporaryFolder folder;
  write_savepoint(folder.path(), checkpoint_of_round(7));
  const auto path = folder / "round-000007.safetensors";
  const auto whole = read_text_file(path);
  const std::string format = R"("format":"2")";
  ASSERT_NE(whole.find(format), std::string::npos);
  // The first format had no such field.
  for (const std::string other : {R"("format":"3")", R"("formas":"2")"}) {
    auto text = whole;
    text.replace(text.find(format), format.size(), other);
    write_file_atomically(path, text);
    const auto found = newest_savepoint(folder.path());
    EXPECT_FALSE(found.checkpoint);
    ASSERT_EQ(found.damaged.size(), 1u);
    EXPECT_NE(found.damaged.front().find("another version of dfrost"), std::string::npos);
  }
}

TEST(Savepoint, IsTheNewestByNumberAlsoWhereThatGrowsADigit) {
  const test::TemporaryFolder folder;
  for (const std::size_t round : {999'998, 999'999, 1'000'000})
    write_savepoint(folder.path(), checkpoint_of_round(round));
  EXPECT_EQ(newest_savepoint(folder.path()).checkpoint->round, 1'000'000u);
}

TEST(Savepoint, IsDamagedWhereItsTotalsWereChanged) {
  const test::TemporaryFolder folder;
  write_savepoint(folder.path(), checkpoint_of_round(7));
  const auto path = folder / "round-000007.safetensors";
  auto text = read_text_file(path);
  const std::string rounds = R"(\"rounds\":7)";
  ASSERT_NE(text.find(rounds), std::string::npos);
  text[text.find(rounds) + rounds.size() - 1] = '8';
  write_file_atomically(path, text);
  const auto found = newest_savepoint(folder.path());
  EXPECT_FALSE(found.checkpoint);
  EXPECT_EQ(found.damaged.size(), 1u);
}

TEST(Savepoint, FallsBackToTheOneBeforeWhenTheNewestIsDamaged) {
  for (const bool truncated : {true, false}) {
    const test::TemporaryFolder folder;
    write_savepoint(folder.path(), checkpoint_of_round(1));
    write_savepoint(folder.path(), checkpoint_of_round(2));
    const auto newest = folder / "round-000002.safetensors";
    if (truncated) {
      std::filesystem::resize_file(newest, std::filesystem::file_size(newest) - 1);
    } else {
      std::fstream file(newest, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-1, std::ios::end);
      file.put('\x11');
    }
    const auto found = newest_savepoint(folder.path());
    ASSERT_TRUE(found.checkpoint);
    EXPECT_EQ(found.checkpoint->round, 1u);
    ASSERT_EQ(found.damaged.size(), 1u);
    EXPECT_NE(found.damaged.front().find("round-000002"), std::string::npos);
  }
}

TEST(Savepoint, IsNotThereInAnEmptyOrMissingFolder) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(newest_savepoint(folder.path()).checkpoint);
  EXPECT_FALSE(newest_savepoint(folder / "missing").checkpoint);
}

TEST(Savepoint, IsNotTakenForMissingWhereTheFolderCannotBeListed) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "checkpoints", "a file where the folder should be");
  test::expect_error(ErrorCode::data_loss, "cannot be listed",
                     [&] { newest_savepoint(folder / "checkpoints"); });
}

}  // namespace
}  // namespace dfrost

#include "run/checkpoint_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "support/support.h"

namespace dfrost {
namespace {

RunCheckpoint checkpoint_of_round(std::size_t round) {
  RunCheckpoint checkpoint{round, "print", {}, {1.5f, -2.0f, static_cast<float>(round)}};
  checkpoint.totals.rounds = round;
  checkpoint.totals.seconds.train = 1.0 / 3.0;
  checkpoint.totals.sent_bytes = (std::uint64_t{1} << 60) + 1;
  return checkpoint;
}

TEST(RunCheckpoint, ComesBackAsItWasAndTheLastTwoAreKept) {
  const test::TemporaryFolder folder;
  for (const std::size_t round : {8, 9, 10}) write_checkpoint(folder.path(), checkpoint_of_round(round));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
  const auto found = newest_checkpoint(folder.path());
  ASSERT_TRUE(found.checkpoint);
  const auto expected = checkpoint_of_round(10);
  EXPECT_EQ(found.checkpoint->round, 10u);
  EXPECT_EQ(found.checkpoint->values, expected.values);
  EXPECT_EQ(found.checkpoint->fingerprint, "print");
  EXPECT_EQ(found.checkpoint->totals.seconds.train, expected.totals.seconds.train);
  EXPECT_EQ(found.checkpoint->totals.sent_bytes, expected.totals.sent_bytes);
}

TEST(RunCheckpoint, IsTheNewestByNumberAlsoWhereThatGrowsADigit) {
  const test::TemporaryFolder folder;
  for (const std::size_t round : {999'998, 999'999, 1'000'000})
    write_checkpoint(folder.path(), checkpoint_of_round(round));
  EXPECT_EQ(newest_checkpoint(folder.path()).checkpoint->round, 1'000'000u);
}

TEST(RunCheckpoint, IsDamagedWhereItsTotalsWereChanged) {
  const test::TemporaryFolder folder;
  write_checkpoint(folder.path(), checkpoint_of_round(7));
  const auto path = folder / "round-000007.safetensors";
  auto text = read_text_file(path);
  const std::string rounds = R"(\"rounds\":7)";
  ASSERT_NE(text.find(rounds), std::string::npos);
  text[text.find(rounds) + rounds.size() - 1] = '8';
  write_file_atomically(path, text);
  const auto found = newest_checkpoint(folder.path());
  EXPECT_FALSE(found.checkpoint);
  EXPECT_EQ(found.damaged.size(), 1u);
}

TEST(RunCheckpoint, FallsBackToTheOneBeforeWhenTheNewestIsDamaged) {
  for (const bool truncated : {true, false}) {
    const test::TemporaryFolder folder;
    write_checkpoint(folder.path(), checkpoint_of_round(1));
    write_checkpoint(folder.path(), checkpoint_of_round(2));
    const auto newest = folder / "round-000002.safetensors";
    if (truncated) {
      std::filesystem::resize_file(newest, std::filesystem::file_size(newest) - 1);
    } else {
      std::fstream file(newest, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-1, std::ios::end);
      file.put('\x11');
    }
    const auto found = newest_checkpoint(folder.path());
    ASSERT_TRUE(found.checkpoint);
    EXPECT_EQ(found.checkpoint->round, 1u);
    ASSERT_EQ(found.damaged.size(), 1u);
    EXPECT_NE(found.damaged.front().find("round-000002"), std::string::npos);
  }
}

TEST(RunCheckpoint, IsNotThereInAnEmptyOrMissingFolder) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(newest_checkpoint(folder.path()).checkpoint);
  EXPECT_FALSE(newest_checkpoint(folder / "missing").checkpoint);
}

TEST(RunCheckpoint, IsNotTakenForMissingWhereTheFolderCannotBeListed) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "checkpoints", "a file where the folder should be");
  test::expect_error(ErrorCode::data_loss, "cannot be listed",
                     [&] { newest_checkpoint(folder / "checkpoints"); });
}

}  // namespace
}  // namespace dfrost

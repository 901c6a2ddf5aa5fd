#include "run/checkpoint_file.h"

#include <gtest/gtest.h>

#include <fstream>

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

}  // namespace
}  // namespace dfrost

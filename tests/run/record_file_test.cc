#include "records/record_file.h"

#include <gtest/gtest.h>

#include <array>

#include "base/file.h"
#include "records/about.h"
#include "run/small_simulation.h"
#include "support/support.h"

namespace dfrost {
namespace {

TEST(RecordFile, KeepsTheRoundsBeforeTheResumedOneAndNoHalfLine) {
  const test::TemporaryFolder folder;
  const auto path = folder / "merges.jsonl";
  keep_rounds_until(path, 0);
  EXPECT_EQ(read_text_file(path), "");
  append_lines(path, {});
  append_lines(path, std::array<std::string, 2>{R"({"round":1,"client":0})", R"({"round":1,"client":5})"});
  append_lines(path, std::array<std::string, 3>{R"({"round":2})", R"({"round":3})", R"({"rou)"});
  const auto whole = read_text_file(path);
  keep_rounds_until(path, 2);
  EXPECT_EQ(read_text_file(path), whole.substr(0, whole.find("{\"round\":3}")));
  keep_rounds_until(path, 1);
  EXPECT_EQ(read_text_file(path), whole.substr(0, whole.find("{\"round\":2}")));
}

TEST(RecordFile, SetsDamagedLinesAsideAndLosesNoOther) {
  const test::TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  for (const std::string& strange : std::vector<std::string>{
           R"({"round":"one"})", R"({"round":-1})", R"([1])", "7", "", R"({"round":2,"los")",
           R"({"round":2,"x":)" + std::string(500'000, '[') + std::string(500'000, ']') + "}"}) {
    std::filesystem::remove(path.string() + kSetAside);
    write_file_atomically(path, "{\"round\":1}\n" + strange + "\n{\"round\":3}\n");
    const auto kept = keep_rounds_until(path, 5);
    EXPECT_EQ(kept.damaged, 1u);
    ASSERT_EQ(kept.lines.size(), 2u);
    EXPECT_EQ(kept.lines.back()["round"], 3);
    EXPECT_EQ(read_text_file(path), "{\"round\":1}\n{\"round\":3}\n") << strange;
    EXPECT_EQ(read_text_file(path.string() + kSetAside), strange + "\n");
  }
}

TEST(RecordFile, TakesALastLineThatWasCutShortForARoundThatIsComputedAgainUnlessItSaysOtherwise) {
  const test::TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  const auto kept_of = [&](const std::string& last) {
    write_file_atomically(path, "{\"round\":1}\n" + last);
    return keep_rounds_until(path, 2).damaged;
  };
  EXPECT_EQ(kept_of(R"({"schema":1,"round":3,"train_l)"), 0u);
  EXPECT_EQ(kept_of(R"({"schema":1,"rou)"), 0u);
  EXPECT_FALSE(std::filesystem::exists(path.string() + kSetAside));
  EXPECT_EQ(kept_of(R"({"schema":1,"round":2,"train_l)"), 1u);
  EXPECT_TRUE(std::filesystem::exists(path.string() + kSetAside));
}

TEST(RecordFile, IsAnotherFileOnceLinesAreGoneAndTheSameOtherwise) {
  const test::TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  write_file_atomically(path, "{\"round\":1}\n{\"round\":2}\n");
  std::filesystem::create_hard_link(path, folder / "before");
  keep_rounds_until(path, 2);
  EXPECT_TRUE(std::filesystem::equivalent(path, folder / "before"));
  keep_rounds_until(path, 1);
  EXPECT_FALSE(std::filesystem::equivalent(path, folder / "before"));
}

TEST(RecordFile, IsNotEmptiedWhereItCannotBeRead) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "metrics.jsonl");
  test::expect_error(ErrorCode::data_loss, "cannot be read",
                     [&] { keep_rounds_until(folder / "metrics.jsonl", 1); });
}

TEST(About, SaysWhoHoldsWhat) {
  auto config = test::small_config();
  config.run.name = "small";
  config.prompts.counts = {4, 2};
  const auto federation = test::make_simulation(config);
  const auto about =
      about_json(config, federation.participants(), test::tiny_backbone(), "timm", "dfrost run small.toml");
  EXPECT_EQ(about["command"], "dfrost run small.toml");
  EXPECT_EQ(about["backbone"]["family"], "timm");
  EXPECT_EQ(about["backbone"]["width"], test::tiny_backbone().geometry().width);
  EXPECT_EQ(about["machine"]["precision"], "fp32");
  ASSERT_EQ(about["clients"].size(), 6u);
  EXPECT_EQ(about["clients"][1]["prompts"], 2);
  EXPECT_EQ(about["clients"][2]["domain"], 0);
  EXPECT_EQ(about["clients"][3]["domain"], 1);
  EXPECT_EQ(about["domains"][1]["first_label"], 3);
  EXPECT_EQ(about["domains"][1]["train"], 36);
  for (std::size_t u = 0; u < 6; ++u) {
    std::size_t sum = 0;
    for (const auto& count : about["partition"][u]) sum += count.get<std::size_t>();
    EXPECT_EQ(about["clients"][u]["samples"], sum);
    EXPECT_EQ(about["partition"][u].size(), 6u);
  }
}

TEST(About, KnowsTheTestPicturesOfTheRunAgain) {
  const auto config = test::small_config();
  const auto federation = test::make_simulation(config);
  const auto about =
      about_json(config, federation.participants(), test::tiny_backbone(), "timm", "dfrost run").dump();
  Corpus corpus = federation.corpus();
  EXPECT_NO_THROW(require_same_test_pictures(about, corpus));
  const PictureRecord& last = corpus.test.records.back();
  std::uint8_t& byte = corpus.test.bytes[last.offset + last.size - 1];
  byte ^= 1;
  test::expect_error(ErrorCode::failed_precondition, "cold has changed since the run",
                     [&] { require_same_test_pictures(about, corpus); });
  byte ^= 1;
  --corpus.test.labels.back();
  test::expect_error(ErrorCode::failed_precondition, "cold has changed since the run",
                     [&] { require_same_test_pictures(about, corpus); });
  for (const char* silent : {"", "{}", "[1]", "{\"domains\": [{\"name\": \"cold\", \"test\": 4}, 7]}"})
    EXPECT_NO_THROW(require_same_test_pictures(silent, corpus)) << silent;
}

}  // namespace
}  // namespace dfrost

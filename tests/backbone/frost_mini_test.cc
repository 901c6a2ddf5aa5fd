// The backbone that comes with dfrost: found by its name, right, and able to see.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backbone/agreement.h"
#include "backbone/moments_file.h"
#include "backbone/weights_fingerprint.h"
#include "base/file.h"
#include "base/safetensors.h"
#include "support/support.h"

namespace dfrost {
namespace {

TEST(FrostMini, GivesByItsNameTheFeaturesAndLogitsThatPyTorchGives) {
  const test::TemporaryFolder folder;
  ASSERT_NO_FATAL_FAILURE(test::run_python("backbone/frost_mini_oracle.py", folder.path().string()));
  const auto expected = folder / "case.safetensors", found = folder / "out.safetensors";
  const auto result =
      test::run_command(fmt::format("{} backbone probe frost-mini --input '{}' --precision fp32 --out '{}'",
                                    DFROST_EXECUTABLE, expected.string(), found.string()));
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const SafetensorsFile ours(found), theirs(expected);
  for (const std::string name : {"features", "logits"}) {
    EXPECT_EQ(ours.content().at(name).shape, theirs.content().at(name).shape);
    EXPECT_LT(test::compare(read_floats(ours.content().at(name), name),
                            read_floats(theirs.content().at(name), name))
                  .relative_error,
              1e-4)
        << name;
  }
}

TEST(FrostMini, HasTheMomentsThatNumPyTakesOfItsFeaturesOnAnyNumberOfThreads) {
  const test::TemporaryFolder folder;
  const std::string at = folder.path().string();
  ASSERT_NO_FATAL_FAILURE(test::run_python("backbone/moments_oracle.py", fmt::format("draw '{}'", at)));
  const auto run = [&](const std::string& command) {
    const auto result =
        test::run_command(fmt::format("cd '{}' && {} backbone {}", at, DFROST_EXECUTABLE, command));
    ASSERT_EQ(result.exit_code, 0) << result.output;
  };
  run("probe frost-mini --input in.safetensors --precision fp32 --out out.safetensors");
  run("moments frost-mini pictures --out moments-64.safetensors --threads 1");
  run("moments frost-mini pictures/a pictures/b/c/*.png --out again.safetensors --threads 3");
  EXPECT_EQ(read_text_file(folder / "moments-64.safetensors"), read_text_file(folder / "again.safetensors"));
  test::run_python("backbone/moments_oracle.py", fmt::format("compare '{}'", at));
}

// What comes with it fits it, and so every client that asks for it by name.
TEST(FrostMini, ComesWithItsMoments) {
  for (const std::size_t size : {32, 64}) {
    const auto path = std::filesystem::path(DFROST_SOURCE_DIR) / "share/dfrost/backbones/frost-mini";
    const auto checkpoint = open_checkpoint(path, {.image_size = size});
    const auto moments = moments_beside(path, moments_origin(*checkpoint, weights_fingerprint(*checkpoint)));
    EXPECT_EQ(moments.count, 4000) << size;
  }
}

TEST(FrostMini, SeesADogOnAPhotographOfAGoldenRetriever) {
  SKIP_WITHOUT_SHARED_DATA("deit_tiny");
  const test::TemporaryFolder folder;
  const auto input = test::shared_data() / "deit_tiny" / "ref_input_3x224x224.f32";
  const auto picture = (folder / "dog.png").string();
  ASSERT_NO_FATAL_FAILURE(
      test::run_python("docs/reference_picture.py", fmt::format("'{}' '{}'", input.string(), picture)));
  const auto result = test::run_command(
      fmt::format("{} classify --backbone frost-mini --top 5 '{}'", DFROST_EXECUTABLE, picture));
  ASSERT_EQ(result.exit_code, 0) << result.output;
  // ImageNet's class 207 is the golden retriever.
  EXPECT_NE(result.output.find(" 207 "), std::string::npos) << result.output;
}

}  // namespace
}  // namespace dfrost

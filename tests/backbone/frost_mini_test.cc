// The backbone that comes with dfrost: found by its name, right, and able to see.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backbone/agreement.h"
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

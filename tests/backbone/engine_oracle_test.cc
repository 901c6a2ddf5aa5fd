// The engine against PyTorch, through the command that users have for the same purpose.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "backbone/agreement.h"
#include "backbone/step.h"
#include "base/safetensors.h"
#include "data/preprocess.h"
#include "dfrost/backbone.h"
#include "support/amx_emulator.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::Agreement;
using test::compare;

void probe(const std::string& checkpoint, const std::string& input, const std::string& precision,
           const std::filesystem::path& out) {
  const auto result =
      test::run_command(DFROST_EXECUTABLE " backbone probe '" + checkpoint + "' --input '" + input +
                        "' --precision " + precision + " --out '" + out.string() + "'");
  ASSERT_EQ(result.exit_code, 0) << result.output;
}

Agreement agreement(const std::filesystem::path& ours, const std::filesystem::path& theirs,
                    const std::string& name) {
  const SafetensorsFile a(ours), b(theirs);
  EXPECT_EQ(a.content().at(name).shape, b.content().at(name).shape) << name;
  return compare(read_floats(a.content().at(name), name), read_floats(b.content().at(name), name));
}

void expect_fp32_agrees_under_every_familys_names(const test::TemporaryFolder& folder) {
  for (const std::string family : {"torchvision.safetensors", "timm.safetensors", "huggingface"}) {
    for (const std::string which : {"case-shared.safetensors", "case-own.safetensors"}) {
      const auto out = folder / "out.safetensors", expected = folder / which;
      probe((folder / family).string(), expected.string(), "fp32", out);
      for (const std::string name : {"features", "logits", "prompt_gradient"}) {
        EXPECT_LT(agreement(out, expected, name).relative_error, 1e-4)
            << family << " " << which << " " << name;
      }
    }
  }
}

void expect_bf16_stays_close(const test::TemporaryFolder& folder) {
  const test::Bf16ForTest bf16_here;
  const auto backbone = load_backbone(folder / "torchvision.safetensors", {.precision = Precision::bf16});
  ASSERT_EQ(backbone->precision(), Precision::bf16);
  const SafetensorsFile file(folder / "case-own.safetensors");
  // Of its three images the first: emulated tiles take a while.
  const auto first = [&](const std::string& name) {
    auto values = read_floats(file.content().at(name), name);
    values.resize(values.size() / 3);
    return values;
  };
  const Geometry& g = backbone->geometry();
  test::StepInput in(g, 1, 10, false, 0);
  planes_to_patches(first("images"), g.image_size, g.patch_size, in.pixels);
  in.prompt_values = first("prompts");
  in.d_features = first("feature_gradient");
  const auto result = test::run_step(*backbone, in);
  EXPECT_LT(compare(result.features, first("features")).relative_error, 2e-2);
  const auto gradient = compare(result.d_prompts, first("prompt_gradient"));
  EXPECT_LT(gradient.relative_error, 2e-2);
  EXPECT_GT(gradient.cosine, 0.999);
}

// One test, because making the model and its answers takes longer than checking them.
TEST(EngineOracle, AgreesWithPyTorchInFp32UnderEveryFamilysNamesAndStaysCloseInBf16) {
  const test::TemporaryFolder folder;
  ASSERT_NO_FATAL_FAILURE(test::run_python("backbone/engine_oracle.py", "base " + folder.path().string()));
  expect_fp32_agrees_under_every_familys_names(folder);
  expect_bf16_stays_close(folder);
}

// Its heads are 80 wide, which no shape shows.
TEST(EngineOracle, AgreesWithPyTorchOnTorchvisionsHugeModelWithoutBeingToldItsHeads) {
  const test::TemporaryFolder folder;
  ASSERT_NO_FATAL_FAILURE(test::run_python("backbone/engine_oracle.py", "huge " + folder.path().string()));
  const auto out = folder / "out.safetensors", expected = folder / "case-huge.safetensors";
  probe((folder / "huge.safetensors").string(), expected.string(), "fp32", out);
  for (const std::string name : {"features", "logits", "prompt_gradient"})
    EXPECT_LT(agreement(out, expected, name).relative_error, 1e-4) << name;
}

TEST(DeitTiny, GivesTheReferenceLogits) {
  SKIP_WITHOUT_SHARED_DATA("deit_tiny");
  const auto data = test::shared_data() / "deit_tiny";
  const test::TemporaryFolder folder;
  const auto read = [](const std::filesystem::path& path, std::size_t count) {
    std::vector<float> values(count);
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(float)));
    return values;
  };
  const auto pixels = read(data / "ref_input_3x224x224.f32", 3 * 224 * 224);
  const auto expected = read(data / "ref_logits_1000.f32", 1000);
  write_safetensors(folder / "in.safetensors",
                    std::vector<FloatTensor>{{"images", {1, 3, 224, 224}, pixels}});
  const auto result = test::run_command(
      DFROST_EXECUTABLE " backbone probe '" + (data / "deit_tiny_patch16_224.safetensors").string() +
      "' --input '" + (folder / "in.safetensors").string() + "' --precision fp32 --out '" +
      (folder / "out.safetensors").string() + "'");
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const SafetensorsFile out(folder / "out.safetensors");
  const auto logits = read_floats(out.content().at("logits"), "logits");
  ASSERT_EQ(logits.size(), 1000u);
  EXPECT_EQ(std::max_element(logits.begin(), logits.end()) - logits.begin(), 207);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_NEAR(logits[i], expected[i], 1e-3) << i;
}

}  // namespace
}  // namespace dfrost

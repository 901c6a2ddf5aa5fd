// The engine against PyTorch, through the command that users have for the same purpose.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/safetensors.h"
#include "support/support.h"

namespace dfrost {
namespace {

struct Agreement {
  double relative_error = 0;  // ‖ours - theirs‖ / ‖theirs‖
  double cosine = 0;
};

Agreement compare(const std::vector<float>& ours, const std::vector<float>& theirs) {
  EXPECT_EQ(ours.size(), theirs.size());
  double difference = 0, dot = 0, a = 0, b = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double x = static_cast<double>(ours[i]), y = static_cast<double>(theirs[i]);
    difference += (x - y) * (x - y);
    dot += x * y;
    a += x * x;
    b += y * y;
  }
  return {std::sqrt(difference / b), dot / std::sqrt(a * b)};
}

class EngineOracle : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new test::TemporaryFolder;
    test::run_python("backbone/engine_oracle.py", folder_->path().string());
  }
  static void TearDownTestSuite() { delete folder_; }

  static void probe(const std::string& checkpoint, const std::string& input, const std::string& precision,
                    const std::filesystem::path& out) {
    const auto result =
        test::run_command(DFROST_EXECUTABLE " backbone probe '" + checkpoint + "' --input '" + input +
                          "' --precision " + precision + " --out '" + out.string() + "'");
    ASSERT_EQ(result.exit_code, 0) << result.output;
  }

  static Agreement agreement(const std::filesystem::path& ours, const std::filesystem::path& theirs,
                             const std::string& name) {
    const SafetensorsFile a(ours), b(theirs);
    EXPECT_EQ(a.content().at(name).shape, b.content().at(name).shape) << name;
    return compare(read_floats(a.content().at(name), name), read_floats(b.content().at(name), name));
  }

  static test::TemporaryFolder* folder_;
};
test::TemporaryFolder* EngineOracle::folder_ = nullptr;

TEST_F(EngineOracle, Fp32AgreesWithPyTorchUnderEveryFamilysNames) {
  for (const std::string family : {"torchvision.safetensors", "timm.safetensors", "huggingface"}) {
    for (const std::string which : {"case-shared.safetensors", "case-own.safetensors"}) {
      const auto out = *folder_ / "out.safetensors", expected = *folder_ / which;
      probe((*folder_ / family).string(), expected.string(), "fp32", out);
      for (const std::string name : {"features", "logits", "prompt_gradient"}) {
        EXPECT_LT(agreement(out, expected, name).relative_error, 1e-4)
            << family << " " << which << " " << name;
      }
    }
  }
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

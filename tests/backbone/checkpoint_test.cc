#include "backbone/checkpoint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "backbone/position_embeddings.h"
#include "base/safetensors.h"
#include "support/support.h"

namespace dfrost {
namespace {

using Values = std::map<std::string, std::vector<float>>;

// Everything that a source hands out, under the names that checkpoint_oracle.py gives to it.
Values canonical_weights(const WeightSource& source) {
  Values all;
  const auto put_linear = [&](const std::string& name, LinearWeights linear) {
    EXPECT_EQ(linear.weight.size(), linear.outputs * linear.inputs) << name;
    all[name + ".weight"] = std::move(linear.weight);
    all[name + ".bias"] = std::move(linear.bias);
  };
  const auto put_norm = [&](const std::string& name, NormWeights norm) {
    all[name + ".weight"] = std::move(norm.scale);
    all[name + ".bias"] = std::move(norm.shift);
  };
  auto stem = source.read_stem();
  put_linear("patch", std::move(stem.patch));
  all["special_tokens"] = std::move(stem.special_tokens);
  all["positions"] = std::move(stem.patch_positions);
  for (std::size_t i = 0; i < source.geometry().depth; ++i) {
    auto block = source.read_block(i);
    const auto name = [i](std::string_view part) { return fmt::format("block{}.{}", i, part); };
    put_norm(name("norm1"), std::move(block.norm1));
    put_linear(name("qkv"), std::move(block.qkv));
    put_linear(name("projection"), std::move(block.projection));
    put_norm(name("norm2"), std::move(block.norm2));
    put_linear(name("fc1"), std::move(block.fc1));
    put_linear(name("fc2"), std::move(block.fc2));
  }
  put_norm("norm", source.read_final_norm());
  auto heads = source.read_heads();
  for (std::size_t i = 0; i < heads.size(); ++i) put_linear(fmt::format("head{}", i), std::move(heads[i]));
  return all;
}

Values expected_weights(const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  Values all;
  for (const auto& [name, tensor] : file.content().tensors) all[name] = read_floats(tensor, name);
  return all;
}

// One run of PyTorch makes the files that all these tests read.
class CheckpointFamilies : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new test::TemporaryFolder;
    test::run_python("backbone/checkpoint_oracle.py", "families " + folder_->path().string());
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::filesystem::path file(const std::string& name) { return *folder_ / name; }

  static void expect_reads(const std::string& name, const std::string& canonical) {
    SCOPED_TRACE(name);
    const auto checkpoint = open_checkpoint(file(name));
    auto expected = expected_weights(file(canonical));
    if (checkpoint->geometry().classes == 0) {
      expected.erase("head0.weight");
      expected.erase("head0.bias");
    }
    const auto found = canonical_weights(*checkpoint);
    ASSERT_EQ(found.size(), expected.size());
    for (const auto& [tensor, values] : expected) {
      ASSERT_TRUE(found.contains(tensor)) << tensor;
      EXPECT_TRUE(found.at(tensor) == values) << tensor;
    }
    checkpoint->release_pages();
    EXPECT_TRUE(canonical_weights(*checkpoint) == found);
  }

 private:
  static test::TemporaryFolder* folder_;
};

test::TemporaryFolder* CheckpointFamilies::folder_ = nullptr;

TEST_F(CheckpointFamilies, AllReadToTheSameWeights) {
  for (const auto* name : {"torchvision", "torchvision_old", "timm", "hf", "hf_deit", "hf_bare"}) {
    expect_reads(fmt::format("{}.safetensors", name), "canonical.safetensors");
  }
}

TEST_F(CheckpointFamilies, AreReadFromShardsByFolderAndByIndex) {
  expect_reads("sharded", "canonical.safetensors");
  expect_reads("sharded/model.safetensors.index.json", "canonical.safetensors");
}

TEST_F(CheckpointFamilies, AreReadFromWhateverTorchSaveWrites) {
  for (const auto* name : {"plain", "nested", "parameters", "strided", "one_storage", "protocol4"}) {
    expect_reads(fmt::format("{}.pth", name), "canonical.safetensors");
  }
}

TEST_F(CheckpointFamilies, AreReadFromSixteenBitTypesExactly) {
  for (const std::string name : {"half", "bfloat16"}) {
    expect_reads(name + ".safetensors", "canonical_" + name + ".safetensors");
    expect_reads(name + ".pth", "canonical_" + name + ".safetensors");
  }
  EXPECT_EQ(open_checkpoint(file("half.pth"))->dtype(), "F16");
  EXPECT_EQ(open_checkpoint(file("bfloat16.safetensors"))->dtype(), "BF16");
}

TEST_F(CheckpointFamilies, KeepTheDistillationTokenAndItsHead) {
  for (const auto* name : {"distilled_timm", "distilled_hf"}) {
    expect_reads(fmt::format("{}.safetensors", name), "canonical_distilled.safetensors");
  }
  const auto checkpoint = open_checkpoint(file("distilled_timm.safetensors"));
  EXPECT_EQ(checkpoint->geometry().special_tokens, 2u);
  EXPECT_EQ(checkpoint->geometry().image_size, 32u);
  EXPECT_EQ(checkpoint->preprocessing().filter, ResizeFilter::bicubic);
  EXPECT_FLOAT_EQ(checkpoint->preprocessing().mean[0], 0.485f);
}

TEST_F(CheckpointFamilies, HaveTheGeometryOfTheirShapes) {
  const auto checkpoint = open_checkpoint(file("torchvision.safetensors"));
  const auto& g = checkpoint->geometry();
  EXPECT_EQ(checkpoint->family(), Family::torchvision);
  EXPECT_EQ(g.width, 128u);
  EXPECT_EQ(g.depth, 2u);
  EXPECT_EQ(g.heads, 2u);
  EXPECT_EQ(g.mlp_width, 192u);
  EXPECT_EQ(g.patch_size, 8u);
  EXPECT_EQ(g.image_size, 32u);
  EXPECT_EQ(g.classes, 7u);
  EXPECT_EQ(g.special_tokens, 1u);
  EXPECT_EQ(g.layer_norm_epsilon, 1e-6f);
  std::size_t parameters = g.width;  // the canonical form adds the CLS token and its position into one
  for (const auto& [name, values] : canonical_weights(*checkpoint)) parameters += values.size();
  EXPECT_EQ(checkpoint->parameters(), parameters);
  EXPECT_EQ(checkpoint->file_bytes(), std::filesystem::file_size(file("torchvision.safetensors")));
  EXPECT_EQ(open_checkpoint(file("hf.safetensors"))->geometry().layer_norm_epsilon, 1e-12f);
  EXPECT_EQ(open_checkpoint(file("hf_bare.safetensors"))->geometry().classes, 0u);
}

TEST_F(CheckpointFamilies, SayHowToSaveALegacyFileAgain) {
  test::expect_error(ErrorCode::unimplemented, "torch.save(torch.load(",
                     [] { open_checkpoint(file("legacy.pth")); });
}

TEST_F(CheckpointFamilies, InterpolateThePositionsForAnotherImageSizeAndNothingElse) {
  const auto small = open_checkpoint(file("timm.safetensors"));
  const auto large = open_checkpoint(file("timm.safetensors"), {.image_size = 48});
  EXPECT_EQ(large->geometry().image_size, 48u);
  EXPECT_EQ(large->preprocessing().crop, 48u);
  auto expected = canonical_weights(*small);
  expected["positions"] = interpolate_positions(expected["positions"], 4, 6, 128);
  EXPECT_TRUE(canonical_weights(*large) == expected);
  test::expect_error(ErrorCode::invalid_argument, "the nearest that is: 48",
                     [] { open_checkpoint(file("timm.safetensors"), {.image_size = 47}); });
  for (const std::size_t size : {std::size_t{0}, std::size_t{1} << 20, ~std::size_t{7}}) {
    EXPECT_THROW(open_checkpoint(file("timm.safetensors"), {.image_size = size}), Error) << size;
  }
}

TEST(InterpolatePositions, AgreesWithPyTorch) {
  const test::TemporaryFolder folder;
  test::run_python("backbone/checkpoint_oracle.py", "positions " + folder.path().string());
  const SafetensorsFile file(folder / "positions.safetensors");
  int compared = 0;
  for (const auto& [name, tensor] : file.content().tensors) {
    if (!name.ends_with(" in")) continue;
    const auto out_name = name.substr(0, name.size() - 2) + "out";
    const auto& expected = file.content().at(out_name);
    const auto found =
        interpolate_positions(read_floats(tensor, name), tensor.shape[0], expected.shape[0], 5);
    const auto values = read_floats(expected, out_name);
    ASSERT_EQ(found.size(), values.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], values[i], 1e-5) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 7);
}

TEST(Checkpoint, ReadsARealDeiT) {
  SKIP_WITHOUT_SHARED_DATA("deit_tiny/deit_tiny_patch16_224.safetensors");
  const auto checkpoint =
      open_checkpoint(test::shared_data() / "deit_tiny/deit_tiny_patch16_224.safetensors");
  const auto& g = checkpoint->geometry();
  EXPECT_EQ(checkpoint->family(), Family::timm);
  EXPECT_EQ(g.width, 192u);
  EXPECT_EQ(g.depth, 12u);
  EXPECT_EQ(g.heads, 3u);
  EXPECT_EQ(g.mlp_width, 768u);
  EXPECT_EQ(g.patch_size, 16u);
  EXPECT_EQ(g.image_size, 224u);
  EXPECT_EQ(g.classes, 1000u);
  EXPECT_EQ(checkpoint->parameters(), 5'717'416u);
  EXPECT_EQ(checkpoint->preprocessing().filter, ResizeFilter::bicubic);
  EXPECT_FLOAT_EQ(checkpoint->preprocessing().std[2], 0.225f);
}

}  // namespace
}  // namespace dfrost

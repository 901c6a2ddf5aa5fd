#include "backbone/checkpoint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backbone/vit_weights_of.h"
#include "base/safetensors.h"
#include "support/support.h"

namespace dfrost {
namespace {

using Values = std::map<std::string, std::vector<float>>;

// Everything that a checkpoint hands out, under the names that checkpoint_oracle.py gives to it.
Values canonical_weights(const Checkpoint& checkpoint) {
  const VitWeights& source = test::vit_weights_of(checkpoint);
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
    EXPECT_TRUE(canonical_weights(*checkpoint) == found);  // also a second time, from pages given back
  }

 private:
  static test::TemporaryFolder* folder_;
};

test::TemporaryFolder* CheckpointFamilies::folder_ = nullptr;

TEST_F(CheckpointFamilies, AllReadToTheSameWeights) {
  for (const auto* name : {"torchvision", "torchvision_old", "timm", "hf", "hf_deit", "hf_bare"}) {
    expect_reads(fmt::format("{}.safetensors", name), "canonical.safetensors");
  }
  EXPECT_EQ(open_checkpoint(file("torchvision.safetensors"))->family(), Family::torchvision);
  EXPECT_EQ(open_checkpoint(file("torchvision.safetensors"))->geometry().layer_norm_epsilon, 1e-6f);
  EXPECT_EQ(open_checkpoint(file("hf.safetensors"))->family(), Family::hugging_face);
  EXPECT_EQ(open_checkpoint(file("hf.safetensors"))->geometry().layer_norm_epsilon, 1e-12f);
  EXPECT_EQ(open_checkpoint(file("hf.safetensors"))->preprocessing_origin(), "google, by default");
  EXPECT_EQ(open_checkpoint(file("hf_deit.safetensors"))->preprocessing_origin(), "deit, by default");
  EXPECT_EQ(open_checkpoint(file("hf_bare.safetensors"))->geometry().classes, 0u);
}

TEST_F(CheckpointFamilies, AreReadFromWhateverContainerHoldsThem) {
  expect_reads("sharded", "canonical.safetensors");
  expect_reads("sharded/model.safetensors.index.json", "canonical.safetensors");
  for (const auto* name : {"sharded_bin", "sharded_bin/pytorch_model.bin.index.json", "bin"})
    expect_reads(name, "canonical.safetensors");
  for (const auto* name :
       {"plain", "nested", "parameters", "strided", "one_storage", "protocol4", "parallel", "compiled"}) {
    expect_reads(fmt::format("{}.pth", name), "canonical.safetensors");
  }
  test::expect_error(ErrorCode::unimplemented, "torch.save(torch.load(",
                     [] { open_checkpoint(file("legacy.pth")); });
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

TEST_F(CheckpointFamilies, ArePreparedForAsTorchvisionsSwagWhereTheNameSaysIt) {
  std::filesystem::copy(file("torchvision.safetensors"), file("vit_b_16_lc_swag.safetensors"));
  const auto swag = open_checkpoint(file("vit_b_16_lc_swag.safetensors"));
  EXPECT_EQ(swag->preprocessing_origin(), "swag, by default");
  EXPECT_EQ(swag->preprocessing().resize, 32u);
  EXPECT_EQ(swag->preprocessing().filter, ResizeFilter::bicubic);
  EXPECT_EQ(open_checkpoint(file("torchvision.safetensors"))->preprocessing_origin(),
            "torchvision, by default");
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

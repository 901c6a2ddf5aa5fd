#include "backbone/checkpoint_layout.h"

#include <gtest/gtest.h>

#include "backbone/checkpoint.h"
#include "backbone/position_embeddings.h"
#include "backbone/small_checkpoint.h"
#include "backbone/vit_weights_of.h"
#include "backbone/weight_memory.h"
#include "base/file.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::SmallCheckpoint;

// What opening the small checkpoint gives after one thing about it was changed.
void expect_refused(const std::string& text, const std::function<void(std::map<std::string, Shape>&)>& spoil,
                    ErrorCode code = ErrorCode::data_loss) {
  SCOPED_TRACE(text);
  const test::TemporaryFolder folder;
  SmallCheckpoint checkpoint;
  spoil(checkpoint.shapes);
  checkpoint.write(folder / "model.safetensors");
  test::expect_error(code, text, [&] { open_checkpoint(folder / "model.safetensors"); });
  test::expect_error(code, "model.safetensors", [&] { open_checkpoint(folder / "model.safetensors"); });
}

TEST(CheckpointLayout, IsInferredFromTheShapes) {
  const test::TemporaryFolder folder;
  SmallCheckpoint().write(folder / "model.safetensors");
  const auto checkpoint = open_checkpoint(folder.path());
  const auto& g = checkpoint->geometry();
  EXPECT_EQ(checkpoint->family(), Family::timm);
  EXPECT_EQ(g.width, 64u);
  EXPECT_EQ(g.depth, 2u);
  EXPECT_EQ(g.heads, 1u);
  EXPECT_EQ(g.mlp_width, 96u);
  EXPECT_EQ(g.patch_size, 4u);
  EXPECT_EQ(g.image_size, 12u);
  EXPECT_EQ(g.classes, 5u);
  EXPECT_EQ(g.special_tokens, 1u);
  EXPECT_EQ(g.layer_norm_epsilon, 1e-6f);
  std::size_t parameters = 0;
  for (const auto& [name, shape] : SmallCheckpoint().shapes) parameters += *element_count(shape);
  EXPECT_EQ(checkpoint->parameters(), parameters);
  EXPECT_EQ(checkpoint->file_bytes(), std::filesystem::file_size(folder / "model.safetensors"));
  EXPECT_EQ(checkpoint->dtype(), "F32");
}

TEST(CheckpointLayout, AllowsAModelWithoutAClassifierAndWithoutQkvBiases) {
  const test::TemporaryFolder folder;
  SmallCheckpoint small;
  for (const auto* name : {"head.weight", "head.bias", "blocks.0.attn.qkv.bias", "blocks.1.attn.qkv.bias"}) {
    small.shapes.erase(name);
  }
  small.write(folder / "model.safetensors");
  const auto checkpoint = open_checkpoint(folder.path());
  EXPECT_EQ(checkpoint->geometry().classes, 0u);
  EXPECT_TRUE(test::vit_weights_of(*checkpoint).read_heads().empty());
  EXPECT_EQ(test::vit_weights_of(*checkpoint).read_block(1).qkv.bias, std::vector<float>(192, 0.0f));
}

TEST(CheckpointLayout, NamesAnyTensorThatIsMissing) {
  for (const auto& [name, shape] : SmallCheckpoint().shapes) {
    // Without its weight there is no classifier, and the bias is left over; without a bias in block 0, none
    // is read.
    if (name == "head.weight" || name == "blocks.0.attn.qkv.bias") continue;
    expect_refused("tensor '" + name + "' is missing", [&name = name](auto& shapes) { shapes.erase(name); });
  }
}

TEST(CheckpointLayout, NamesAnyTensorOfTheWrongShape) {
  for (const auto& [name, shape] : SmallCheckpoint().shapes) {
    expect_refused("tensor '" + name + "' has shape",
                   [&name = name](auto& shapes) { shapes[name].push_back(1); });
    expect_refused("tensor '" + name + "' has shape", [&name = name](auto& shapes) { shapes[name][0] = 0; });
  }
}

TEST(CheckpointLayout, RefusesWhatWouldChangeTheModel) {
  const auto add = [](const std::string& name) {
    expect_refused(
        "'" + name + "' has no place", [&](auto& shapes) { shapes[name] = {64}; }, ErrorCode::unimplemented);
  };
  add("blocks.0.ls1.gamma");
  add("blocks.7.norm1.weight");
  add("blocks.18446744073709551616.norm1.weight");
  add("fc_norm.weight");
  add("reg_token");
  add("head_dist.weight");
  expect_refused(
      "'head.bias' has no place", [](auto& shapes) { shapes.erase("head.weight"); },
      ErrorCode::unimplemented);
}

TEST(CheckpointLayout, SaysWhatAVariantAddsWhateverItLacks) {
  const auto add = [](const std::string& name, const std::string& what) {
    expect_refused(
        "'" + name + "' has no place in a plain vision transformer: " + what,
        [&](auto& shapes) {
          shapes[name] = {64};
          shapes.erase("blocks.0.mlp.fc1.weight");
        },
        ErrorCode::unimplemented);
  };
  add("blocks.0.ls1.gamma", "layer scale");
  add("blocks.1.gamma_1", "layer scale");
  add("encoder.layer.0.layer_scale1.lambda1", "layer scale");
  add("reg_token", "register tokens");
  add("embeddings.register_tokens", "register tokens");
  add("norm_pre.weight", "a norm before the first block");
  add("blocks.0.attn.q_norm.weight", "norms of queries and keys");
  add("blocks.0.mlp.w12.weight", "a gated MLP");
  add("blocks.0.mlp.fc1_g.weight", "a gated MLP");
  add("fc_norm.weight", "features that are the mean of the patches");
  add("attn_pool.latent", "features that are pooled by attention");
  add("blocks.0.attn.rel_pos.relative_position_bias_table", "relative positions");
  add("pre_logits.fc.weight", "a layer before the classifier");
}

// A gated MLP in its packed form keeps the plain one's names; biases that only some projections have would be
// read as none at all.
TEST(CheckpointLayout, RefusesAGatedMlpAndHalfOfTheBiasesByTheirShapes) {
  expect_refused("'blocks.0.mlp.fc2.weight' has shape", [](auto& s) {
    s["blocks.0.mlp.fc2.weight"] = {64, 48};
  });
  expect_refused(
      "'blocks.1.attn.qkv.bias' has no place", [](auto& s) { s.erase("blocks.0.attn.qkv.bias"); },
      ErrorCode::unimplemented);
  expect_refused("'blocks.1.attn.qkv.bias' is missing", [](auto& s) { s.erase("blocks.1.attn.qkv.bias"); });
}

TEST(CheckpointLayout, RefusesOddGeometries) {
  expect_refused("expected [width, 3, patch, patch]", [](auto& s) {
    s["patch_embed.proj.weight"] = {64, 1, 4, 4};
  });
  expect_refused("expected [width, 3, patch, patch]", [](auto& s) {
    s["patch_embed.proj.weight"] = {64, 3, 4, 2};
  });
  expect_refused("a square number of patches", [](auto& s) { s["pos_embed"] = {1, 1 + 8, 64}; });
  expect_refused("a square number of patches", [](auto& s) { s["pos_embed"] = {1, 1, 64}; });
  expect_refused("a square number of patches", [](auto& s) { s["pos_embed"] = {1, 0, 64}; });
  expect_refused("expected [1, 2 + a square", [](auto& s) { s["dist_token"] = {1, 1, 64}; });
}

TEST(CheckpointLayout, RefusesWhatIsNotAVisionTransformer) {
  expect_refused("not a vision transformer", [](auto& shapes) {
    shapes = {{"conv1.weight", {64, 3, 7, 7}}, {"bn1.weight", {64}}, {"fc.weight", {10, 512}}};
  });
  expect_refused("no tensors", [](auto& shapes) { shapes.clear(); });
}

TEST(CheckpointLayout, OfAConvitAsksForWhatItsGatedBlocksNeed) {
  TensorDescriptions tensors;
  for (const auto& [name, shape] : SmallCheckpoint().shapes) tensors[name] = {TensorType::f32, shape};
  tensors["pos_embed"] = {TensorType::f32, {1, 4, 64}};
  tensors["blocks.0.attn.gating_param"] = {TensorType::f32, {4}};
  test::expect_error(ErrorCode::data_loss, "blocks.0.attn.qk.weight", [&] { infer_layout(tensors, {}, 0); });
}

TEST(CheckpointLayout, RefusesTensorsThatAreNotFloats) {
  TensorDescriptions tensors;
  for (const auto& [name, shape] : SmallCheckpoint().shapes) tensors[name] = {TensorType::f32, shape};
  tensors["blocks.1.norm2.bias"].type = TensorType::i64;
  test::expect_error(ErrorCode::unimplemented, "'blocks.1.norm2.bias' holds I64",
                     [&] { infer_layout(tensors, {}, 0); });
}

// The small checkpoint with another width and another MLP.
TensorDescriptions tensors_of(std::size_t width, std::size_t mlp_width) {
  TensorDescriptions tensors;
  for (auto [name, shape] : SmallCheckpoint().shapes) {
    for (auto& size : shape) {
      size = size == SmallCheckpoint::kWidth       ? width
             : size == 3 * SmallCheckpoint::kWidth ? 3 * width
             : size == SmallCheckpoint::kMlpWidth  ? mlp_width
                                                   : size;
    }
    tensors[name] = {TensorType::f32, shape};
  }
  return tensors;
}

TEST(CheckpointLayout, KnowsTheHeadsOfThePublishedModels) {
  struct Model {
    std::size_t width, mlp_width, heads;
  };
  for (const auto& [width, mlp_width, heads] :
       {Model{192, 768, 3}, Model{384, 1536, 6}, Model{768, 3072, 12}, Model{1024, 4096, 16},
        Model{1280, 5120, 16}, Model{1408, 6144, 16}, Model{1664, 8192, 16}}) {
    const auto layout = infer_layout(tensors_of(width, mlp_width), {}, 0);
    EXPECT_EQ(layout.geometry.heads, heads) << width;
    EXPECT_EQ(layout.own_heads.origin, HeadsOrigin::known) << width;
  }
}

TEST(CheckpointLayout, GuessesTheHeadsOfOthersAndSaysSo) {
  const auto other_width = infer_layout(tensors_of(320, 1280), {}, 0);
  EXPECT_EQ(other_width.geometry.heads, 5u);
  EXPECT_EQ(other_width.own_heads.origin, HeadsOrigin::guess);
  // timm's first vit_small_patch16_224: as wide as ViT-B, with a smaller MLP and 8 heads.
  const auto other_mlp = infer_layout(tensors_of(768, 2304), {}, 0);
  EXPECT_EQ(other_mlp.own_heads.origin, HeadsOrigin::guess);
  CheckpointConfig config;
  config.heads = 8;
  const auto told = infer_layout(tensors_of(768, 2304), config, 0);
  EXPECT_EQ(told.geometry.heads, 8u);
  EXPECT_EQ(told.own_heads.origin, HeadsOrigin::config);
}

TEST(CheckpointHeads, AreDoubtedWhereGuessedOrContradictedAndNotWhereSaid) {
  const test::TemporaryFolder folder;
  SmallCheckpoint().write(folder / "model.safetensors");
  const auto doubt = [&](const CheckpointOptions& options) {
    const auto found = doubt_about_heads(*open_checkpoint(folder.path(), options), options.heads.has_value());
    return found ? found->what + "; " + found->hint : std::string();
  };
  EXPECT_NE(doubt({}).find("1 attention heads are a guess"), std::string::npos) << doubt({});
  EXPECT_NE(doubt({}).find("--heads"), std::string::npos) << doubt({});
  EXPECT_EQ(doubt({.heads = 4}), "");
  write_file_atomically(folder / "config.json", R"({"num_attention_heads": 2})");
  EXPECT_EQ(doubt({}), "");
  EXPECT_EQ(doubt({.heads = 2}), "");
  EXPECT_NE(doubt({.heads = 4}).find("its config.json says 2"), std::string::npos) << doubt({.heads = 4});
}

TEST(LoadBackbone, RefusesToGuessTheHeadsSinceItCannotWarn) {
  const test::TemporaryFolder folder;
  SmallCheckpoint().write(folder / "model.safetensors");
  test::expect_error(ErrorCode::failed_precondition, "1 attention heads are a guess",
                     [&] { load_backbone(folder.path(), {.precision = Precision::fp32}); });
  const auto backbone = load_backbone(folder.path(), {.precision = Precision::fp32, .heads = 4});
  EXPECT_EQ(backbone->geometry().heads, 4u);
}

TEST(CheckpointLayout, WantsToKnowTheHeadsOfAnOddWidth) {
  const auto tensors = tensors_of(60, SmallCheckpoint::kMlpWidth);
  test::expect_error(ErrorCode::data_loss, "num_attention_heads", [&] { infer_layout(tensors, {}, 0); });
  test::expect_error(ErrorCode::data_loss, "--heads", [&] { infer_layout(tensors, {}, 0); });
  EXPECT_EQ(infer_layout(tensors, {}, 6).geometry.heads, 6u);
  CheckpointConfig config;
  config.heads = 5;
  EXPECT_EQ(infer_layout(tensors, config, 0).geometry.heads, 5u);
  test::expect_error(ErrorCode::data_loss, "7 attention heads do not divide the width 60",
                     [&] { infer_layout(tensors, config, 7); });
}

TEST(CheckpointImageSize, InterpolatesThePositionsAndNothingElse) {
  const test::TemporaryFolder folder;
  SmallCheckpoint().write(folder / "model.safetensors");
  const auto own = test::vit_weights_of(*open_checkpoint(folder.path())).read_stem();
  const auto checkpoint = open_checkpoint(folder.path(), {.image_size = 20});
  const auto stem = test::vit_weights_of(*checkpoint).read_stem();
  EXPECT_EQ(checkpoint->geometry().patches(), 25u);
  EXPECT_EQ(checkpoint->preprocessing().crop, 20u);
  EXPECT_EQ(stem.patch_positions, interpolate_positions(own.patch_positions, 3, 5, 64));
  EXPECT_EQ(stem.special_tokens, own.special_tokens);
  EXPECT_EQ(stem.patch.weight, own.patch.weight);
}

TEST(CheckpointImageSize, MustBeAMultipleOfThePatchAndNotAbsurd) {
  const test::TemporaryFolder folder;
  SmallCheckpoint().write(folder / "model.safetensors");
  test::expect_error(ErrorCode::invalid_argument, "the nearest that is: 12",
                     [&] { open_checkpoint(folder.path(), {.image_size = 13}); });
  for (const std::size_t size : {std::size_t{0}, std::size_t{1} << 20, ~std::size_t{3}}) {
    test::expect_error(ErrorCode::invalid_argument, "image size",
                       [&] { open_checkpoint(folder.path(), {.image_size = size}); });
  }
}

TEST(CheckpointShards, AreFoundBesideTheirIndexOrNamed) {
  const test::TemporaryFolder folder;
  SmallCheckpoint().write(folder / "one.safetensors");
  const auto index = folder / "model.safetensors.index.json";
  const auto expect = [&](const std::string& json, ErrorCode code, const std::string& text) {
    write_file_atomically(index, json);
    test::expect_error(code, text, [&] { open_checkpoint(index); });
  };
  expect(R"({"weight_map": {"norm.bias": "../one.safetensors"}})", ErrorCode::data_loss, "beside the index");
  expect(R"({"weight_map": {"norm.bias": ".."}})", ErrorCode::not_found, "folder");
  expect(R"({"weight_map": {"norm.bias": 1}})", ErrorCode::data_loss, "beside the index");
  expect(R"({"weight_map": {"norm.bias": "two.safetensors"}})", ErrorCode::not_found, "two.safetensors");
  expect(R"({"weight_map": {"extra": "one.safetensors"}})", ErrorCode::data_loss,
         "'extra' is not in 'one.safetensors'");
  expect(R"({"weight_map": {"norm.bias": "one.safetensors"}})", ErrorCode::data_loss,
         "not a vision transformer");
  expect(R"({"weight_map": []})", ErrorCode::data_loss, "no weight_map");
  expect(R"([])", ErrorCode::data_loss, "no weight_map");
  expect(R"({"weight_map": {)", ErrorCode::data_loss, "line 1");
  expect(std::string(100'000, '['), ErrorCode::data_loss, "nested deeper");
  expect(R"({"weight_map": {"a": "b", "a": "c"}})", ErrorCode::data_loss, "'a' appears twice");
}

TEST(PackedWeightBytes, AreWhatTheEngineReallyTakes) {
  const test::TemporaryFolder folder;
  SmallCheckpoint small;
  for (auto& [name, shape] : small.shapes) {
    // Whole vectors of 64, which oneDNN need not pad on any CPU.
    for (auto& size : shape) size = size == SmallCheckpoint::kMlpWidth ? 128 : size;
  }
  small.write(folder / "model.safetensors");
  const auto checkpoint = open_checkpoint(folder.path());
  for (const bool training : {true, false}) {
    const auto backbone = make_backbone(*checkpoint, {.precision = Precision::fp32, .training = training});
    const auto expected = packed_weight_bytes(checkpoint->geometry(), Precision::fp32, training);
    EXPECT_NEAR(static_cast<double>(backbone->weight_bytes()), static_cast<double>(expected),
                0.02 * static_cast<double>(expected));
  }
}

}  // namespace
}  // namespace dfrost

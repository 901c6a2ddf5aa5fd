// How the tensors of a plain vision transformer are told, and what they add up to.
#include <fmt/format.h>

#include <array>

#include "backbone/vit.h"
#include "base/quote.h"
#include "base/text.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

// What variants of the transformer add to it, by a part of the names that it goes by. Most would also be
// found as a tensor that is missing or left over; here the user learns what it is.
struct Addition {
  std::string_view part, what;
};
constexpr std::array kAdditions = {
    Addition{".ls1.", "layer scale"},
    Addition{".layer_scale", "layer scale"},
    Addition{".gamma_1", "layer scale"},
    Addition{".lambda_1", "layer scale"},
    Addition{"reg_token", "register tokens"},
    Addition{"register_token", "register tokens"},
    Addition{"norm_pre.", "a norm before the first block"},
    Addition{"attn.q_norm.", "norms of queries and keys"},
    Addition{"attn.norm.", "a norm inside the attention"},
    Addition{"mlp.norm.", "a norm inside the MLP"},
    Addition{"mlp.w12.", "a gated MLP (SwiGLU)"},
    Addition{"mlp.weights_in.", "a gated MLP (SwiGLU)"},
    Addition{"mlp.fc1_g.", "a gated MLP (SwiGLU)"},
    Addition{"fc_norm.", "features that are the mean of the patches"},
    Addition{"attn_pool.", "features that are pooled by attention"},
    Addition{"rel_pos", "relative positions"},
    Addition{"relative_position", "relative positions"},
    Addition{"pre_logits.", "a layer before the classifier"},
};

void refuse_additions(const TensorDescriptions& tensors) {
  for (const auto& [name, tensor] : tensors) {
    for (const auto& addition : kAdditions) {
      if (name.find(addition.part) == std::string::npos) continue;
      throw Error(ErrorCode::unimplemented,
                  fmt::format("tensor {} has no place in a plain vision transformer: {}, not supported",
                              quote_name(name), addition.what),
                  "take a plain vision transformer, such as ViT or DeiT");
    }
  }
}

void infer_tokens(TensorInventory& inventory, const Naming& naming, Geometry& geometry) {
  const std::size_t width = geometry.width;
  inventory.take(naming.class_token, {1, 1, width});
  const bool distilled = !naming.distillation_token.empty() && inventory.has(naming.distillation_token);
  geometry.special_tokens = distilled ? 2 : 1;
  if (distilled) inventory.take(naming.distillation_token, {1, 1, width});
  infer_positions(inventory, naming, geometry.special_tokens, geometry);
}

// The published models, whichever family's names they bear: Ti, S, B, L, H, g and G of "Scaling Vision
// Transformers". Up to L a head has 64 values; from H on there are 16 heads.
struct KnownModel {
  std::size_t width, mlp_width, heads;
};
constexpr std::array kKnownModels = {
    KnownModel{192, 768, 3},    KnownModel{384, 1536, 6},   KnownModel{768, 3072, 12},
    KnownModel{1024, 4096, 16}, KnownModel{1280, 5120, 16}, KnownModel{1408, 6144, 16},
    KnownModel{1664, 8192, 16},
};

// The number of heads leaves no trace in any shape. A known width with another MLP is some other model, for
// which the usual number is no more than a guess (timm's first ViT-S had 8 heads at width 768).
OwnHeads find_own_heads(const CheckpointConfig& config, const Geometry& geometry) {
  if (config.heads) return {HeadsOrigin::config, *config.heads};
  for (const auto& model : kKnownModels) {
    if (model.width != geometry.width) continue;
    return {model.mlp_width == geometry.mlp_width ? HeadsOrigin::known : HeadsOrigin::guess, model.heads};
  }
  return {HeadsOrigin::guess, geometry.width % 64 == 0 ? geometry.width / 64 : 0};
}

void infer_heads(const CheckpointConfig& config, std::size_t asked, CheckpointLayout& layout) {
  Geometry& geometry = layout.geometry;
  layout.own_heads = find_own_heads(config, geometry);
  geometry.heads = asked != 0 ? asked : layout.own_heads.count;
  if (geometry.heads == 0) {
    refuse_layout(
        fmt::format("the number of attention heads is unknown: the width {} is not a multiple of 64",
                    geometry.width),
        how_to_say_heads(12));
  }
  if (geometry.width % geometry.heads != 0) {
    refuse_layout(
        fmt::format("{} attention heads do not divide the width {}", geometry.heads, geometry.width));
  }
}

// Returns whether the queries, keys and values have biases: all or none.
bool take_qkv(TensorInventory& inventory, const Naming& naming, std::size_t block, std::size_t width) {
  const std::size_t outputs = 3 * width / naming.qkv.size();
  const bool has_bias = inventory.has(naming.in_block(0, naming.qkv.front()) + "bias");
  for (const auto& stem : naming.qkv) {
    const std::string full = naming.in_block(block, stem);
    inventory.take(full + "weight", {outputs, width});
    if (has_bias) inventory.take(full + "bias", {outputs});
  }
  return has_bias;
}

void infer_blocks(TensorInventory& inventory, CheckpointLayout& layout) {
  const Naming& naming = layout.naming;
  Geometry& geometry = layout.geometry;
  for (; inventory.has_any_below(naming.in_block(geometry.depth, "")); ++geometry.depth) {
    const auto stem = [&](const std::string& name) { return naming.in_block(geometry.depth, name); };
    inventory.take_norm(stem(naming.norm1), geometry.width);
    layout.has_qkv_bias = take_qkv(inventory, naming, geometry.depth, geometry.width);
    inventory.take_linear(stem(naming.projection), geometry.width, geometry.width);
    inventory.take_norm(stem(naming.norm2), geometry.width);
    inventory.take_linear(stem(naming.fc1), geometry.mlp_width, geometry.width);
    inventory.take_linear(stem(naming.fc2), geometry.width, geometry.mlp_width);
  }
}

}  // namespace

bool is_vit(const TensorDescriptions& tensors) { return detect_naming(tensors).has_value(); }

CheckpointLayout infer_vit_layout(const TensorDescriptions& tensors, const CheckpointConfig& config,
                                  std::size_t heads) {
  CheckpointLayout layout;
  layout.naming = detect_naming(tensors).value();
  Geometry& geometry = layout.geometry;
  TensorInventory inventory(tensors);
  refuse_additions(tensors);
  infer_patch(inventory, layout.naming, geometry);
  infer_tokens(inventory, layout.naming, geometry);
  infer_mlp_width(inventory, layout.naming, geometry);
  infer_blocks(inventory, layout);
  inventory.take_norm(layout.naming.final_norm, geometry.width);
  infer_classes(inventory, layout);
  inventory.refuse_leftovers(layout.naming.ignored,
                             fmt::format("a plain vision transformer of {} blocks", geometry.depth));
  check_against(config, geometry);
  infer_heads(config, heads, layout);
  // No tensor shows it: each family has it in its code, or in a config.
  geometry.layer_norm_epsilon =
      config.layer_norm_epsilon.value_or(layout.naming.family == Family::hugging_face ? 1e-12f : 1e-6f);
  layout.parameters = inventory.parameters();
  layout.types = inventory.types();
  return layout;
}

// What the names of the file and its folder say. timm's are shared by models that were trained in two ways,
// DeiT's and timm's own (augreg); torchvision's by those of its first recipe and those that began as SWAG,
// among them every H/14.
DefaultPreprocessing vit_preprocessing(const CheckpointLayout& layout, const std::filesystem::path& path) {
  const auto named = [&](std::string_view word) {
    return lower_case(path.filename().string()).find(word) != std::string::npos ||
           lower_case(path.parent_path().filename().string()).find(word) != std::string::npos;
  };
  const bool deit =
      layout.geometry.special_tokens == 2 || layout.naming.patch.starts_with("deit.") || named("deit");
  switch (layout.naming.family) {
    case Family::torchvision: {
      const bool huge = layout.geometry.width == 1280 && layout.geometry.patch_size == 14;
      return {huge || named("swag") ? "swag" : "torchvision"};
    }
    case Family::hugging_face: return {deit ? "deit" : "google"};
    case Family::timm: return {deit ? "deit" : "augreg", !deit && !named("augreg")};
    case Family::built_in: break;  // has no tensors
  }
  return {"torchvision"};
}

}  // namespace dfrost

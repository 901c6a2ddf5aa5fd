// How the tensors of a ConViT are told, in timm's names, which are also those of its authors; what they add
// up to, and what it costs.
#include <fmt/format.h>

#include <algorithm>

#include "backbone/convit.h"
#include "backbone/vit.h"
#include "base/quote.h"

namespace dfrost {
namespace {

constexpr const char* kGate = "attn.gating_param";

// The tensor shows them, and no other number would fit it.
void infer_gated_heads(TensorInventory& inventory, std::size_t asked, CheckpointLayout& layout) {
  const std::string name = layout.naming.in_block(0, kGate);
  const Shape& shape = inventory.take(name);
  if (shape.size() != 1 || shape[0] == 0 || layout.geometry.width % shape[0] != 0) {
    refuse_layout(fmt::format("tensor {} has shape {}, expected a number of heads that divides the width {}",
                              quote_name(name), to_string(shape), layout.geometry.width));
  }
  layout.own_heads = {HeadsOrigin::config, shape[0]};
  layout.geometry.heads = shape[0];
  if (asked != 0 && asked != shape[0]) {
    refuse_layout(
        fmt::format("{} attention heads were asked for, and {} is for {}", asked, quote_name(name), shape[0]),
        "leave the number of heads to the checkpoint");
  }
}

void take_gated_attention(TensorInventory& inventory, const CheckpointLayout& layout, std::size_t block) {
  const std::size_t width = layout.geometry.width, heads = layout.geometry.heads;
  const auto stem = [&](const char* name) { return layout.naming.in_block(block, name); };
  inventory.take(stem("attn.qk.weight"), {2 * width, width});
  inventory.take(stem("attn.v.weight"), {width, width});
  inventory.take_linear(stem("attn.pos_proj."), heads, 3);
  inventory.take(stem(kGate), {heads});
}

void infer_convit_blocks(TensorInventory& inventory, CheckpointLayout& layout) {
  const Naming& naming = layout.naming;
  Geometry& geometry = layout.geometry;
  bool gated = true;
  for (; inventory.has_any_below(naming.in_block(geometry.depth, "")); ++geometry.depth) {
    const auto stem = [&](const std::string& name) { return naming.in_block(geometry.depth, name); };
    // Once one has no gate, none behind it has.
    gated = gated && inventory.has(stem(kGate));
    inventory.take_norm(stem(naming.norm1), geometry.width);
    if (gated) {
      take_gated_attention(inventory, layout, geometry.depth);
      ++geometry.gated_blocks;
    } else {
      inventory.take(stem("attn.qkv.weight"), {3 * geometry.width, geometry.width});
    }
    inventory.take_linear(stem(naming.projection), geometry.width, geometry.width);
    inventory.take_norm(stem(naming.norm2), geometry.width);
    inventory.take_linear(stem(naming.fc1), geometry.mlp_width, geometry.width);
    inventory.take_linear(stem(naming.fc2), geometry.width, geometry.mlp_width);
  }
  if (gated) {
    refuse_layout(fmt::format("all {} blocks of this ConViT are gated: there is none for its class token",
                              geometry.depth));
  }
}

}  // namespace

bool is_convit(const TensorDescriptions& tensors) {
  return std::ranges::any_of(tensors, [](const auto& tensor) { return tensor.first.ends_with(kGate); });
}

CheckpointLayout infer_convit_layout(const TensorDescriptions& tensors, const CheckpointConfig& config,
                                     std::size_t heads) {
  CheckpointLayout layout;
  const auto naming = detect_naming(tensors);
  if (!naming || naming->family != Family::timm)
    refuse_layout("a ConViT without timm's names for its other tensors",
                  "expected 'patch_embed.proj.weight'");
  layout.naming = *naming;
  layout.has_qkv_bias = false;
  Geometry& geometry = layout.geometry;
  TensorInventory inventory(tensors);
  infer_patch(inventory, layout.naming, geometry);
  inventory.take(layout.naming.class_token, {1, 1, geometry.width});
  infer_positions(inventory, layout.naming, 0, geometry);
  infer_mlp_width(inventory, layout.naming, geometry);
  infer_gated_heads(inventory, heads, layout);
  infer_convit_blocks(inventory, layout);
  inventory.take_norm(layout.naming.final_norm, geometry.width);
  infer_classes(inventory, layout);
  inventory.refuse_leftovers(layout.naming.ignored, fmt::format("a ConViT of {} blocks", geometry.depth));
  check_against(config, geometry);
  geometry.layer_norm_epsilon = config.layer_norm_epsilon.value_or(1e-6f);
  layout.parameters = inventory.parameters();
  layout.types = inventory.types();
  return layout;
}

// Its authors trained it as DeiT is.
DefaultPreprocessing convit_preprocessing(const CheckpointLayout&, const std::filesystem::path&) {
  return {"deit"};
}

// As a plain transformer, less the class token in the gated blocks.
StepFlops convit_flops(const Geometry& geometry, std::size_t prompts) {
  auto flops = vit_flops(geometry, prompts);
  const auto width = static_cast<double>(geometry.width), mlp = static_cast<double>(geometry.mlp_width);
  const auto tokens = static_cast<double>(geometry.tokens(prompts));
  const double matrices = 4 * width * width + 2 * width * mlp, pairs = (2 * tokens - 1) * width;
  const auto blocks = static_cast<double>(geometry.gated_blocks);
  flops.forward -= 2 * blocks * (matrices + 2 * pairs);
  flops.backward -= 2 * blocks * (matrices + 4 * pairs);
  // In the first block it had been spared this way already.
  if (geometry.gated_blocks > 0) flops.backward += 2 * 3 * width * width;
  return flops;
}

std::size_t convit_weight_bytes(const Geometry& geometry, Precision precision, bool training) {
  const std::size_t value_bytes = precision == Precision::bf16 ? 2 : 4;
  const std::size_t scores = geometry.heads * geometry.patches() * geometry.patches();
  return vit_weight_bytes(geometry, precision, training) +
         geometry.gated_blocks * (scores * value_bytes + geometry.heads * sizeof(float));
}

}  // namespace dfrost

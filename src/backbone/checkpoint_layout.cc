#include "backbone/checkpoint_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/quote.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

[[noreturn]] void fail(const std::string& message, std::string hint = {}) {
  throw Error(ErrorCode::data_loss, message, std::move(hint));
}

// The tensors of a checkpoint, ticked off as the model asks for them.
class Inventory {
 public:
  explicit Inventory(const TensorDescriptions& tensors) : tensors_(tensors) {}

  const Shape& take(const std::string& name) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) fail(fmt::format("tensor {} is missing", quote_name(name)));
    const TensorType type = found->second.type;
    if (type != TensorType::f32 && type != TensorType::f16 && type != TensorType::bf16 &&
        type != TensorType::f64) {
      throw Error(ErrorCode::unimplemented,
                  fmt::format("tensor {} holds {} values, expected F32, F16, BF16 or F64", quote_name(name),
                              to_string(type)));
    }
    if (taken_.insert(name).second) parameters_ += *element_count(found->second.shape);
    types_.insert(type);
    return found->second.shape;
  }

  void take(const std::string& name, const Shape& expected) {
    const Shape& found = take(name);
    if (found != expected) {
      fail(fmt::format("tensor {} has shape {}, expected {}", quote_name(name), to_string(found),
                       to_string(expected)));
    }
  }

  void take_norm(const std::string& stem, std::size_t width) {
    take(stem + "weight", {width});
    take(stem + "bias", {width});
  }

  void take_linear(const std::string& stem, std::size_t outputs, std::size_t inputs) {
    take(stem + "weight", {outputs, inputs});
    take(stem + "bias", {outputs});
  }

  bool has(const std::string& name) const { return tensors_.contains(name); }

  bool has_any_below(const std::string& beginning) const {
    const auto next = tensors_.lower_bound(beginning);
    return next != tensors_.end() && next->first.starts_with(beginning);
  }

  void refuse_leftovers(const std::vector<std::string>& ignored, std::size_t depth) const {
    for (const auto& [name, tensor] : tensors_) {
      const bool is_ignored =
          std::any_of(ignored.begin(), ignored.end(),
                      [&name = name](const auto& beginning) { return name.starts_with(beginning); });
      if (is_ignored || taken_.contains(name)) continue;
      throw Error(ErrorCode::unimplemented,
                  fmt::format("tensor {} has no place in a plain vision transformer of {} blocks",
                              quote_name(name), depth),
                  "variants with layer scale, register tokens, query norms and the like are not supported");
    }
  }

  std::size_t parameters() const { return parameters_; }
  const std::set<TensorType>& types() const { return types_; }

 private:
  const TensorDescriptions& tensors_;
  std::set<std::string> taken_;
  std::set<TensorType> types_;
  std::size_t parameters_ = 0;
};

// Its first blocks mix in attention by position and have no CLS token: another architecture in timm's names.
void refuse_convit(const TensorDescriptions& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (!name.ends_with("attn.gating_param")) continue;
    throw Error(ErrorCode::unimplemented,
                fmt::format("a ConViT, by its tensor {}: gated positional attention is not supported",
                            quote_name(name)),
                "take a plain vision transformer, such as ViT or DeiT");
  }
}

Naming naming_of(const TensorDescriptions& tensors) {
  refuse_convit(tensors);
  if (auto naming = detect_naming(tensors)) return *naming;
  std::string some;
  for (const auto& [name, tensor] : tensors) {
    if (!some.empty()) some += ", ";
    some += quote_name(name);
    if (some.size() > 100) break;
  }
  fail(tensors.empty() ? "no tensors, expected a vision transformer"
                       : fmt::format("not a vision transformer: its tensors are {} …", some),
       "expected 'patch_embed.proj.weight' (timm), 'conv_proj.weight' (torchvision) or "
       "'vit.embeddings.patch_embeddings.projection.weight' (Hugging Face)");
}

void infer_patch(Inventory& inventory, const Naming& naming, Geometry& geometry) {
  const std::string name = naming.patch + "weight";
  const Shape& shape = inventory.take(name);
  if (shape.size() != 4 || shape[0] == 0 || shape[1] != 3 || shape[2] == 0 || shape[2] != shape[3]) {
    fail(fmt::format("tensor {} has shape {}, expected [width, 3, patch, patch]", quote_name(name),
                     to_string(shape)));
  }
  geometry.width = shape[0];
  geometry.patch_size = shape[2];
  inventory.take(naming.patch + "bias", {geometry.width});
}

void infer_tokens(Inventory& inventory, const Naming& naming, Geometry& geometry) {
  const std::size_t width = geometry.width;
  inventory.take(naming.class_token, {1, 1, width});
  const bool distilled = !naming.distillation_token.empty() && inventory.has(naming.distillation_token);
  geometry.special_tokens = distilled ? 2 : 1;
  if (distilled) inventory.take(naming.distillation_token, {1, 1, width});

  const Shape& shape = inventory.take(naming.positions);
  const bool plausible =
      shape.size() == 3 && shape[0] == 1 && shape[1] > geometry.special_tokens && shape[2] == width;
  const std::size_t patches = plausible ? shape[1] - geometry.special_tokens : 0;
  const auto grid = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(patches))));
  if (!plausible || grid * grid != patches) {
    fail(fmt::format("tensor {} has shape {}, expected [1, {} + a square number of patches, {}]",
                     quote_name(naming.positions), to_string(shape), geometry.special_tokens, width));
  }
  geometry.image_size = grid * geometry.patch_size;
}

void infer_heads(const CheckpointConfig& config, std::size_t asked, Geometry& geometry) {
  const std::size_t width = geometry.width;
  if (asked == 0 && !config.heads && width % 64 != 0) {
    fail(fmt::format("the number of attention heads is unknown: the width {} is not a multiple of 64", width),
         "say it in a config.json beside the file: {\"num_attention_heads\": 12}");
  }
  geometry.heads = asked != 0 ? asked : config.heads.value_or(width / 64);
  if (width % geometry.heads != 0)
    fail(fmt::format("{} attention heads do not divide the width {}", geometry.heads, width));
}

// Returns whether the queries, keys and values have biases: all or none.
bool take_qkv(Inventory& inventory, const Naming& naming, std::size_t block, std::size_t width) {
  const std::size_t outputs = 3 * width / naming.qkv.size();
  const bool has_bias = inventory.has(naming.in_block(0, naming.qkv.front()) + "bias");
  for (const auto& stem : naming.qkv) {
    const std::string full = naming.in_block(block, stem);
    inventory.take(full + "weight", {outputs, width});
    if (has_bias) inventory.take(full + "bias", {outputs});
  }
  return has_bias;
}

void infer_blocks(Inventory& inventory, CheckpointLayout& layout) {
  const Naming& naming = layout.naming;
  Geometry& geometry = layout.geometry;
  const std::string first = naming.in_block(0, naming.fc1) + "weight";
  const Shape& shape = inventory.take(first);
  if (shape.size() != 2 || shape[0] == 0 || shape[1] != geometry.width) {
    fail(fmt::format("tensor {} has shape {}, expected [mlp width, {}]", quote_name(first), to_string(shape),
                     geometry.width));
  }
  geometry.mlp_width = shape[0];
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

void infer_classes(Inventory& inventory, CheckpointLayout& layout) {
  Geometry& geometry = layout.geometry;
  const std::size_t most = std::min(layout.naming.heads.size(), geometry.special_tokens);
  for (std::size_t i = 0; i < most; ++i) {
    const auto& stem = layout.naming.heads[i];
    if (!inventory.has(stem + "weight")) break;
    const Shape& shape = inventory.take(stem + "weight");
    if (i == 0 && shape.size() == 2) geometry.classes = shape[0];
    if (geometry.classes == 0 || shape != Shape{geometry.classes, geometry.width}) {
      fail(fmt::format("tensor {} has shape {}, expected [{}, {}]", quote_name(stem + "weight"),
                       to_string(shape), i == 0 ? "classes" : std::to_string(geometry.classes),
                       geometry.width));
    }
    inventory.take(stem + "bias", {geometry.classes});
    layout.heads.push_back(stem);
  }
}

void check_against(const CheckpointConfig& config, const Geometry& geometry) {
  const auto check = [](std::string_view what, std::optional<std::size_t> said, std::size_t found) {
    if (said && *said != found) {
      fail(fmt::format("the config says that {} is {}, but the weights are for {}", what, *said, found),
           "the config.json beside the checkpoint may belong to another one");
    }
  };
  check("the width (hidden_size)", config.width, geometry.width);
  check("the number of blocks (num_hidden_layers)", config.depth, geometry.depth);
  check("the width of the MLP (intermediate_size)", config.mlp_width, geometry.mlp_width);
  check("the patch size (patch_size)", config.patch_size, geometry.patch_size);
  check("the image size (image_size)", config.image_size, geometry.image_size);
}

}  // namespace

CheckpointLayout infer_layout(const TensorDescriptions& tensors, const CheckpointConfig& config,
                              std::size_t heads) {
  CheckpointLayout layout;
  layout.naming = naming_of(tensors);
  Geometry& geometry = layout.geometry;
  Inventory inventory(tensors);
  infer_patch(inventory, layout.naming, geometry);
  infer_tokens(inventory, layout.naming, geometry);
  infer_blocks(inventory, layout);
  inventory.take_norm(layout.naming.final_norm, geometry.width);
  infer_classes(inventory, layout);
  inventory.refuse_leftovers(layout.naming.ignored, geometry.depth);
  check_against(config, geometry);
  infer_heads(config, heads, geometry);
  geometry.layer_norm_epsilon =
      config.layer_norm_epsilon.value_or(layout.naming.family == Family::hugging_face ? 1e-12f : 1e-6f);
  layout.parameters = inventory.parameters();
  layout.types = inventory.types();
  return layout;
}

}  // namespace dfrost

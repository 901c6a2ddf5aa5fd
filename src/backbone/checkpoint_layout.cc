#include "backbone/checkpoint_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backbone/architecture.h"
#include "base/quote.h"
#include "dfrost/error.h"

namespace dfrost {

void refuse_layout(const std::string& message, std::string hint) {
  throw Error(ErrorCode::data_loss, message, std::move(hint));
}

std::string how_to_say_heads(std::size_t example) {
  return fmt::format(
      "say it by --heads (backbone.heads of an experiment), or in a config.json beside the file: "
      "{{\"num_attention_heads\": {}}}",
      example);
}

CheckpointLayout infer_layout(const TensorDescriptions& tensors, const CheckpointConfig& config,
                              std::size_t heads) {
  const Architecture& architecture = architecture_of(tensors);
  auto layout = architecture.infer_layout(tensors, config, heads);
  layout.geometry.architecture = architecture.name;
  return layout;
}

void infer_patch(TensorInventory& inventory, const Naming& naming, Geometry& geometry) {
  const std::string name = naming.patch + "weight";
  const Shape& shape = inventory.take(name);
  if (shape.size() != 4 || shape[0] == 0 || shape[1] != 3 || shape[2] == 0 || shape[2] != shape[3]) {
    refuse_layout(fmt::format("tensor {} has shape {}, expected [width, 3, patch, patch]", quote_name(name),
                              to_string(shape)));
  }
  geometry.width = shape[0];
  geometry.patch_size = shape[2];
  inventory.take(naming.patch + "bias", {geometry.width});
}

void infer_positions(TensorInventory& inventory, const Naming& naming, std::size_t leading,
                     Geometry& geometry) {
  const std::size_t width = geometry.width;
  const Shape& shape = inventory.take(naming.positions);
  const bool plausible = shape.size() == 3 && shape[0] == 1 && shape[1] > leading && shape[2] == width;
  const std::size_t patches = plausible ? shape[1] - leading : 0;
  const auto grid = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(patches))));
  if (!plausible || grid * grid != patches) {
    refuse_layout(fmt::format("tensor {} has shape {}, expected [1, {} + a square number of patches, {}]",
                              quote_name(naming.positions), to_string(shape), leading, width));
  }
  geometry.image_size = grid * geometry.patch_size;
}

void infer_mlp_width(TensorInventory& inventory, const Naming& naming, Geometry& geometry) {
  const std::string first = naming.in_block(0, naming.fc1) + "weight";
  const Shape& shape = inventory.take(first);
  if (shape.size() != 2 || shape[0] == 0 || shape[1] != geometry.width) {
    refuse_layout(fmt::format("tensor {} has shape {}, expected [mlp width, {}]", quote_name(first),
                              to_string(shape), geometry.width));
  }
  geometry.mlp_width = shape[0];
}

// A head reads one special token, so there cannot be more of them; a checkpoint without any is one for its
// features alone.
void infer_classes(TensorInventory& inventory, CheckpointLayout& layout) {
  Geometry& geometry = layout.geometry;
  const std::size_t most = std::min(layout.naming.heads.size(), geometry.special_tokens);
  for (std::size_t i = 0; i < most; ++i) {
    const auto& stem = layout.naming.heads[i];
    if (!inventory.has(stem + "weight")) break;
    const Shape& shape = inventory.take(stem + "weight");
    if (i == 0 && shape.size() == 2) geometry.classes = shape[0];
    if (geometry.classes == 0 || shape != Shape{geometry.classes, geometry.width}) {
      refuse_layout(fmt::format("tensor {} has shape {}, expected [{}, {}]", quote_name(stem + "weight"),
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
      refuse_layout(
          fmt::format("the config says that {} is {}, but the weights are for {}", what, *said, found),
          "the config.json beside the checkpoint may belong to another one");
    }
  };
  check("the width (hidden_size)", config.width, geometry.width);
  check("the number of blocks (num_hidden_layers)", config.depth, geometry.depth);
  check("the width of the MLP (intermediate_size)", config.mlp_width, geometry.mlp_width);
  check("the patch size (patch_size)", config.patch_size, geometry.patch_size);
  check("the image size (image_size)", config.image_size, geometry.image_size);
}

}  // namespace dfrost

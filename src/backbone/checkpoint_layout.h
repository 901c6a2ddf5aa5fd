// What a checkpoint's tensors add up to: its naming, its geometry, and the assurance that every tensor the
// model needs is there in the right shape and that none is left over that would have changed what it
// computes.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "backbone/checkpoint_config.h"
#include "backbone/naming.h"
#include "backbone/tensor_inventory.h"
#include "backbone/tensor_store.h"
#include "dfrost/geometry.h"

namespace dfrost {

struct CheckpointLayout {
  Naming naming;
  Geometry geometry;               // with the image size that the weights are for
  std::vector<std::string> heads;  // stems of the heads that exist
  bool has_qkv_bias = true;
  std::size_t parameters = 0;
  std::set<TensorType> types;  // of the tensors that are read
};

// By the architecture that the names tell. `heads` 0: as that architecture finds it; a plain ViT's from the
// config, else width / 64. Throws Error naming the tensor and what was expected.
CheckpointLayout infer_layout(const TensorDescriptions& tensors, const CheckpointConfig& config,
                              std::size_t heads);

// --- steps of infer_layout that architectures share ---

[[noreturn]] void refuse_layout(const std::string& message, std::string hint = {});  // data_loss

void infer_patch(TensorInventory& inventory, const Naming& naming, Geometry& geometry);
// The image size, from an embedding for each of `leading` tokens and then for each patch of a square.
void infer_positions(TensorInventory& inventory, const Naming& naming, std::size_t leading,
                     Geometry& geometry);
void infer_mlp_width(TensorInventory& inventory, const Naming& naming, Geometry& geometry);
void infer_classes(TensorInventory& inventory, CheckpointLayout& layout);
void check_against(const CheckpointConfig& config, const Geometry& geometry);

}  // namespace dfrost

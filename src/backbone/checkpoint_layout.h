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

// How many attention heads a checkpoint's own files say that it has. No shape of a plain transformer shows
// them.
enum class HeadsOrigin {
  config,  // a config.json beside it, or a tensor
  known,   // it has the shape of a model that is known
  guess,   // nothing says it
};
struct OwnHeads {
  HeadsOrigin origin = HeadsOrigin::config;
  std::size_t count = 0;  // 0: none, not even a guess
};

struct CheckpointLayout {
  Naming naming;
  Geometry geometry;               // with the image size that the weights are for
  OwnHeads own_heads;              // the geometry's, unless others were asked for
  std::vector<std::string> heads;  // stems of the heads that exist
  bool has_qkv_bias = true;
  std::size_t parameters = 0;
  std::set<TensorType> types;  // of the tensors that are read
};

// By the architecture that the names tell. `heads` 0: the checkpoint's own. Throws Error naming the tensor
// and what was expected.
CheckpointLayout infer_layout(const TensorDescriptions& tensors, const CheckpointConfig& config,
                              std::size_t heads);

// --- steps of infer_layout that architectures share ---

[[noreturn]] void refuse_layout(const std::string& message, std::string hint = {});  // data_loss
// The hint where the number of attention heads is in doubt.
std::string how_to_say_heads(std::size_t example);

void infer_patch(TensorInventory& inventory, const Naming& naming, Geometry& geometry);
// The image size, from an embedding for each of `leading` tokens and then for each patch of a square.
void infer_positions(TensorInventory& inventory, const Naming& naming, std::size_t leading,
                     Geometry& geometry);
void infer_mlp_width(TensorInventory& inventory, const Naming& naming, Geometry& geometry);
void infer_classes(TensorInventory& inventory, CheckpointLayout& layout);
void check_against(const CheckpointConfig& config, const Geometry& geometry);

}  // namespace dfrost

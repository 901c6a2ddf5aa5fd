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
#include "backbone/tensor_store.h"
#include "backbone/weights.h"

namespace dfrost {

struct CheckpointLayout {
  Naming naming;
  Geometry geometry;               // with the image size that the weights are for
  std::vector<std::string> heads;  // stems of the heads that exist
  bool has_qkv_bias = true;
  std::size_t parameters = 0;
  std::set<TensorType> types;  // of the tensors that are read
};

// `heads` 0: from the config, else width / 64. Throws Error naming the tensor and what was expected.
CheckpointLayout infer_layout(const TensorDescriptions& tensors, const CheckpointConfig& config,
                              std::size_t heads);

}  // namespace dfrost

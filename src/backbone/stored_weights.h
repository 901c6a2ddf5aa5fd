// Canonical weights out of a checkpoint's tensors: a stem plus "weight" or "bias" is a tensor's name. The
// layout has vouched for every name and shape before.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backbone/checkpoint_layout.h"
#include "backbone/tensor_store.h"
#include "backbone/weights.h"

namespace dfrost {

std::vector<float> read_values(const TensorStore& store, const std::string& name, std::size_t count);
NormWeights read_norm(const TensorStore& store, const std::string& stem, std::size_t width);
// One matrix, or several of equal size below each other.
LinearWeights read_linear(const TensorStore& store, const std::vector<std::string>& stems,
                          std::size_t outputs, std::size_t inputs, bool has_bias);
std::vector<LinearWeights> read_heads(const TensorStore& store, const CheckpointLayout& layout);

}  // namespace dfrost

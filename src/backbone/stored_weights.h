// Canonical weights out of a checkpoint's tensors: a stem plus "weight" or "bias" is a tensor's name. The
// layout has vouched for every name and shape before.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backbone/checkpoint_layout.h"
#include "backbone/tensor_store.h"
#include "backbone/vit_weights.h"
#include "backbone/weights.h"
#include "dfrost/geometry.h"

namespace dfrost {

std::vector<float> read_values(const TensorStore& store, const std::string& name, std::size_t count);
NormWeights read_norm(const TensorStore& store, const std::string& stem, std::size_t width);
// One matrix, or several of equal size below each other.
LinearWeights read_linear(const TensorStore& store, const std::vector<std::string>& stems,
                          std::size_t outputs, std::size_t inputs, bool has_bias);
std::vector<LinearWeights> read_heads(const TensorStore& store, const CheckpointLayout& layout);
// A block around its queries, keys and values, which every architecture stores in its own way.
BlockWeights read_block_around(LinearWeights qkv, const TensorStore& store, const CheckpointLayout& layout,
                               std::size_t index);

// What all sources of weights that are made of a stem, blocks and a final norm read alike; `Weights` says
// which architecture's they are.
template <typename Weights>
class StoredWeights : public Weights {
 public:
  StoredWeights(const TensorStore& store, const CheckpointLayout& layout, const Geometry& geometry)
      : store_(store), layout_(layout), geometry_(geometry) {}

  const Geometry& geometry() const override { return geometry_; }
  NormWeights read_final_norm() const override {
    return read_norm(store_, layout_.naming.final_norm, geometry_.width);
  }
  std::vector<LinearWeights> read_heads() const override { return dfrost::read_heads(store_, layout_); }

 protected:
  const TensorStore& store_;
  CheckpointLayout layout_;
  Geometry geometry_;  // the layout's, for the image size that was asked for
};

}  // namespace dfrost

// The weights of a ConViT (d'Ascoli et al. 2021) in canonical form, read from a checkpoint: a vision
// transformer whose first blocks attend by content and by position, a gate per head deciding how much of
// each, and whose class token joins behind them.
#pragma once

#include <cstddef>
#include <vector>

#include "backbone/checkpoint_layout.h"
#include "backbone/vit_weights.h"

namespace dfrost {

// Of a gated block, beside what every block has.
struct GateWeights {
  LinearWeights position;  // [heads, 3]: of (Δx, Δy, Δx² + Δy²), key's place less query's, in patches
  std::vector<float> gating;  // [heads], before the sigmoid
};

class ConvitWeights final : public WeightSource {
 public:
  ConvitWeights(const TensorStore& store, const CheckpointLayout& layout, const Geometry& geometry);

  const Geometry& geometry() const override { return geometry_; }
  std::size_t gated_blocks() const { return gated_blocks_; }

  StemWeights read_stem() const;  // the class token has no position
  BlockWeights read_block(std::size_t index) const;
  GateWeights read_gate(std::size_t index) const;  // index < gated_blocks()
  NormWeights read_final_norm() const;
  std::vector<LinearWeights> read_heads() const;

  bool runs(Precision precision) const override { return precision != Precision::bf16; }
  std::unique_ptr<Backbone> make_backbone(const Packing& packing) const override;
  void add_to(ContentHash& hash) const override;

 private:
  const TensorStore& store_;
  CheckpointLayout layout_;
  Geometry geometry_;  // the layout's, for the image size that was asked for
  std::size_t gated_blocks_ = 0;
};

}  // namespace dfrost

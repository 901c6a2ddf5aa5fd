// The weights of a ConViT (d'Ascoli et al. 2021) in canonical form, whatever file they came from: a vision
// transformer whose first blocks attend by content and by position, a gate per head deciding how much of
// each, and whose class token joins behind them.
#pragma once

#include <cstddef>
#include <vector>

#include "backbone/vit_weights.h"
#include "kernels/buffer.h"

namespace dfrost {

// Of a gated block, beside what every block has.
struct GateWeights {
  LinearWeights position;  // [heads, 3]: of (Δx, Δy, Δx² + Δy²), key's place less query's, in patches
  std::vector<float> gating;  // [heads], before the sigmoid
};

class ConvitWeights : public WeightSource {
 public:
  std::size_t gated_blocks() const { return geometry().gated_blocks; }

  virtual StemWeights read_stem() const = 0;  // the class token has no position
  virtual BlockWeights read_block(std::size_t index) const = 0;
  virtual GateWeights read_gate(std::size_t index) const = 0;  // index < gated_blocks()
  virtual NormWeights read_final_norm() const = 0;
  virtual std::vector<LinearWeights> read_heads() const = 0;

  std::unique_ptr<Backbone> make_backbone(const Packing& packing) const final;
  std::vector<float> first_block_map() const final { return key_value_map(read_block(0)); }
  void add_to(ContentHash& hash) const final;
};

// What the gates of a block are made of, in a picture of grid × grid patches: between 0 and 1, [heads]; and
// the softmax over keys of what their offsets give, [heads·patches, patches].
std::vector<float> gates_of(const GateWeights& weights);
Matrix<float> position_scores(const GateWeights& weights, std::size_t grid);

}  // namespace dfrost

#include "backbone/convit_weights.h"

#include <cassert>
#include <cmath>

#include "backbone/convit.h"
#include "backbone/weights_fingerprint.h"
#include "kernels/vector_ops.h"

namespace dfrost {

std::unique_ptr<Backbone> ConvitWeights::make_backbone(const Packing& packing) const {
  assert(packing.precision != Precision::automatic);
  return packing.precision == Precision::bf16 ? make_convit_bf16(*this, packing)
                                              : make_convit_fp32(*this, packing);
}

// The order is part of every fingerprint that adapters carry: it cannot change.
void ConvitWeights::add_to(ContentHash& hash) const {
  add_to_hash(read_stem(), hash);
  for (std::size_t i = 0; i < geometry().depth; ++i) {
    add_to_hash(read_block(i), hash);
    if (i >= gated_blocks()) continue;
    const auto gate = read_gate(i);
    add_to_hash(gate.position, hash);
    hash.add(std::span(gate.gating));
  }
  add_to_hash(read_final_norm(), hash);
  for (const auto& head : read_heads()) add_to_hash(head, hash);
}

std::vector<float> gates_of(const GateWeights& weights) {
  std::vector<float> gates;
  for (const float value : weights.gating) gates.push_back(1.0f / (1.0f + std::exp(-value)));
  return gates;
}

Matrix<float> position_scores(const GateWeights& weights, std::size_t grid) {
  const std::size_t heads = weights.gating.size(), patches = grid * grid;
  Matrix<float> scores(heads * patches, patches);
  const auto offset = [](std::size_t query, std::size_t key) {
    return static_cast<float>(static_cast<double>(key) - static_cast<double>(query));
  };
  for (std::size_t row = 0; row < scores.rows(); ++row) {
    const std::size_t h = row / patches, q = row % patches;
    const float* weight = weights.position.weight.data() + 3 * h;
    for (std::size_t k = 0; k < patches; ++k) {
      const float dx = offset(q % grid, k % grid), dy = offset(q / grid, k / grid);
      scores.row(row)[k] =
          weight[0] * dx + weight[1] * dy + weight[2] * (dx * dx + dy * dy) + weights.position.bias[h];
    }
  }
  softmax_rows(scores, 1.0f);
  return scores;
}

}  // namespace dfrost

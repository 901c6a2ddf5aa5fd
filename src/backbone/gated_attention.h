// Gated positional self-attention (d'Ascoli et al. 2021), in fp32 over [images·tokens, 3·width] rows q | k |
// v, the tokens of an image being its prompts and then its patches. A patch attends by (1 − gate)·content +
// gate·position, where the position's part, over patches alone, does not depend on the picture. A prompt has
// no place: it attends by content alone. Rows of either sum to one. Runs on the calling thread.
#pragma once

#include <cstddef>
#include <vector>

#include "backbone/convit_weights.h"
#include "kernels/attention.h"
#include "kernels/buffer.h"

namespace dfrost {

// Of one block, per head.
struct PositionGates {
  std::size_t patches = 0;
  std::vector<float> gates;   // [heads], in (0, 1)
  std::vector<float> scores;  // [heads, patches, patches]: softmax over keys of what the offsets give

  PositionGates() = default;
  PositionGates(const GateWeights& weights, std::size_t grid);
  MatrixView<const float> of_head(std::size_t head) const {
    return {scores.data() + head * patches * patches, patches, patches};
  }
};

// out [rows, width]; content [images·heads·tokens, tokens] is for the way back.
void gated_attention(MatrixView<const float> qkv, const PositionGates& gates, const AttentionShape& shape,
                     Matrix<float>& content, MatrixView<float> out);
// d_qkv [rows, 3·width].
void gated_attention_backward(MatrixView<const float> qkv, const PositionGates& gates,
                              MatrixView<const float> content, MatrixView<const float> d_out,
                              const AttentionShape& shape, MatrixView<float> d_qkv);

}  // namespace dfrost

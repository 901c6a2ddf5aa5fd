// What gated attention does beside attention, row by row of one head of one image, whose prompts come before
// its patches; vectorised for the machine it runs on. A prompt's row stays as it is.
#pragma once

#include <cstddef>

#include "dfrost/matrix_view.h"
#include "kernels/bf16_ops.h"
#include "kernels/bf16_rows.h"
#include "kernels/fp32_ops.h"

namespace dfrost {

// mixed = (1 - gate)·content + gate·position; all [tokens, tokens].
void mix_in_positions(MatrixView<const float> content, const Fp32Ops::Gates& gates, std::size_t head,
                      MatrixView<float> mixed);
// d, the gradient of what was mixed, becomes that of the content.
void through_gate(const Fp32Ops::Gates& gates, std::size_t head, MatrixView<float> d);

// The same for the rows of tokens from `first_token` on, one or two rows of tiles.
void mix_in_positions_to_tiles(const Bf16* content, const AttentionTiles& shape, const Bf16Ops::Gates& gates,
                               std::size_t head, std::size_t first_token, Bf16* mixed);
// d [16·row_tiles, 32·col_tiles].
void through_gate(const AttentionTiles& shape, const Bf16Ops::Gates& gates, std::size_t head,
                  std::size_t first_token, float* d);

}  // namespace dfrost

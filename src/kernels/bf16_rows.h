// Row-wise work between fp32 and the bf16 layouts, vectorised for the machine it runs on. All arithmetic is
// fp32; sums run in an order fixed by the row's length, so a row's result does not depend on its neighbours.
#pragma once

#include <cstddef>
#include <span>

#include "dfrost/matrix_view.h"
#include "kernels/bf16_matrix.h"

namespace dfrost {

// out [rows, stride] = x, rounded.
void round_rows(MatrixView<const float> x, Bf16* out, std::size_t stride);

// Writes x to the rows from `row` and the columns from `col` of out.
void store_to_tiles(MatrixView<const float> x, TiledMatrix& out, std::size_t row, std::size_t col);

// out = (x - mean) · inverse_std per row, and the way back: dx += inverse_std · (d - mean(d) - x̂ · mean(d ∘
// x̂)).
void normalize_to_tiles(MatrixView<const float> x, float epsilon, TiledMatrix& out,
                        std::span<float> inverse_std);
void normalize_backward_from_tiles(MatrixView<const float> d, const TiledMatrix& normalized,
                                   std::span<const float> inverse_std, MatrixView<float> dx);
void normalize_backward_from_tiles(const SumStrips& d, const TiledMatrix& normalized,
                                   std::span<const float> inverse_std, MatrixView<float> dx);

// One or two rows of tiles [16·row_tiles, 32·col_tiles] of an attention matrix of which the first `rows` rows
// and `cols` columns count; the rest comes out as zero. `scores` [16·row_tiles, 32·col_tiles] is used up.
struct AttentionTiles {
  std::size_t row_tiles = 0;
  std::size_t col_tiles = 0;
  std::size_t rows = 0;
  std::size_t cols = 0;
};
// probabilities = softmax(scale · scores) per row.
void softmax_to_tiles(float* scores, const AttentionTiles& shape, float scale, Bf16* probabilities);
// d_scores = scale · p ∘ (d - Σ p∘d) per row: the gradient of the scores before scaling.
void softmax_backward_to_tiles(const float* d, const Bf16* probabilities, const AttentionTiles& shape,
                               float scale, Bf16* d_scores);

}  // namespace dfrost

// Rearranging matrices into the layouts of bf16_matrix.h. What has no source becomes zero.
#pragma once

#include <cstddef>
#include <span>

#include "dfrost/matrix_view.h"
#include "kernels/bf16_matrix.h"

namespace dfrost {

// The right factor of a·matrixᵀ, rounded to bf16. At each k-step of 32 a panel holds two tiles, one for each
// 16 of its 32 columns: [16 pairs along k][16 columns][2], so that a 32-bit lane has two neighbours along k.
void pack_weights(MatrixView<const float> matrix, PanelMatrix& out);

// Rows of bf16 that lie apart in a wider matrix: one head of one image in a RowMatrix.
struct Bf16Rows {
  const Bf16* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;
};

// Right factors made of such rows: xᵀ (k runs along x's columns) and x itself (k runs down its rows). Of x
// itself the columns up to the next multiple of 32 are taken along, whatever they hold: they end up in
// columns that nobody reads.
void pack_transposed(const Bf16Rows& x, PanelMatrix& out);
void pack_panels(const Bf16Rows& x, PanelMatrix& out);

// A square left factor of 32·blocks rows and columns, in tiles, transposed.
void transpose_tiles(const Bf16* tiles, std::size_t blocks, Bf16* out);

// out's row i is in's row rows[i].
void select_tile_rows(const TiledMatrix& in, std::span<const std::size_t> rows, TiledMatrix& out);

}  // namespace dfrost

// What becomes of a finished block of a product, 32×32 sums [16·row_tiles, 32] in the nearest cache: bias,
// activation and rounding in one pass, straight into the layout that the next product reads.
// `bias` has 32 numbers. Each does the rows that it is asked for, so that a block can be done in pieces.
#pragma once

#include <cstddef>

#include "kernels/bf16.h"

namespace dfrost {

struct TileColumn {
  Bf16* data = nullptr;          // the upper tile
  std::size_t row_distance = 0;  // to the tile below, in numbers
};
struct ConstTileColumn {
  const Bf16* data = nullptr;
  std::size_t row_distance = 0;
};

// Rows of a block, from `first` to before `end`.
struct BlockRows {
  std::size_t first = 0;
  std::size_t end = 0;
};

// out = block + bias, or out += … ; cols at most 32.
struct OutputBlock {
  float* data = nullptr;
  std::size_t stride = 0;
  std::size_t cols = 0;
};
void finish_block(const float* block, const float* bias, bool accumulate, const BlockRows& rows,
                  const OutputBlock& out);

// out = block + bias, rows of 32, `stride` apart.
void finish_block_to_rows(const float* block, const float* bias, const BlockRows& rows, Bf16* out,
                          std::size_t stride);

// h = block + bias; out = gelu(h); derivative = gelu'(h) where its data is not null. The derivative is for
// the way back: it goes past the caches, so publish_streamed() must come before another thread may read it.
void finish_block_with_gelu(const float* block, const float* bias, const BlockRows& rows,
                            const TileColumn& out, const TileColumn& derivative);

void publish_streamed();

// out = block ∘ factors.
void finish_block_times(const float* block, const ConstTileColumn& factors, const BlockRows& rows,
                        const TileColumn& out);

}  // namespace dfrost

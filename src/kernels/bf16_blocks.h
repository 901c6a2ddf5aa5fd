// What becomes of a finished block of a product, 32×32 sums [16·row_tiles, 32] in the nearest cache: bias,
// activation and rounding in one pass, straight into the layout that the next product reads.
// `bias` has 32 numbers.
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

// out [rows, cols] = block + bias, or out += … ; rows and cols at most 32.
struct OutputBlock {
  float* data = nullptr;
  std::size_t stride = 0;
  std::size_t rows = 0;
  std::size_t cols = 0;
};
void finish_block(const float* block, const float* bias, bool accumulate, const OutputBlock& out);

// out = block + bias, `rows` rows of 32, `stride` apart.
void finish_block_to_rows(const float* block, const float* bias, std::size_t rows, Bf16* out,
                          std::size_t stride);

// h = block + bias; out = gelu(h); derivative = gelu'(h) where its data is not null.
void finish_block_with_gelu(const float* block, const float* bias, std::size_t row_tiles,
                            const TileColumn& out, const TileColumn& derivative);

// out = block ∘ factors.
void finish_block_times(const float* block, const ConstTileColumn& factors, std::size_t row_tiles,
                        const TileColumn& out);

}  // namespace dfrost

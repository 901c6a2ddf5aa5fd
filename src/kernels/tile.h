// The AMX tile unit: eight registers of 16 rows × 64 bytes, here four sums of 16×16 floats and two tiles of
// each factor in bf16. The only file that issues tile instructions.
#pragma once

#include <cstddef>

#include "kernels/bf16.h"
#include "kernels/block_product.h"

namespace dfrost {

// Between the two, this thread's tiles are ours. Needs Bf16Unit::tiles.
void configure_tiles();
void release_tiles();

// multiply_block() on configured tiles. The panel is kept in the nearest cache as far as it fits; the
// left factor is not.
void multiply_block_on_tiles(const LeftTiles& left, const Bf16* panel, std::size_t depth_tiles,
                             std::size_t row_tiles, float* out, std::size_t out_stride,
                             const Meanwhile& meanwhile);

// Multiplies two small tiles and compares; crashes with SIGILL where there are none. For cpu.cc's guarded
// trial.
bool tile_trial_product_is_right();

}  // namespace dfrost

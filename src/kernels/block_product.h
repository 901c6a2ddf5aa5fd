// One block of a product in bf16 with fp32 sums, on whichever unit of the processor does it fastest: AMX
// tiles (tile.h) or AVX-512's dot products of pairs (pair_dots.h). Both read the same layouts, made for the
// tiles: everything above speaks of blocks and never asks which unit is at work. A sum runs along k in a
// fixed order, so it depends on its own row and column alone; the order is the unit's.
#pragma once

#include <cstddef>

#include "kernels/bf16.h"
#include "kernels/cpu.h"

namespace dfrost {

inline constexpr std::size_t kTileRows = 16;
inline constexpr std::size_t kTileDepth = 32;                       // bf16 numbers in a tile's row
inline constexpr std::size_t kTileSize = kTileRows * kTileDepth;    // numbers in a bf16 tile, 1 KiB
inline constexpr std::size_t kPanelCols = 32;                       // output columns worked on together
inline constexpr std::size_t kPanelStep = kPanelCols * kTileDepth;  // numbers of a panel per 32 of k, 2 KiB

// Where the tiles of a left factor lie: 16 rows of 64 bytes each, distances in bytes.
struct LeftTiles {
  const Bf16* data = nullptr;
  std::size_t row_bytes = 0;       // from one row of a tile to the next
  std::size_t depth_bytes = 0;     // from one tile to the next along k
  std::size_t tile_row_bytes = 0;  // from one tile to the one 16 rows below
};

// What the vector unit can do meanwhile: rows 0 … rows-1 of something, in order, a few between any two steps
// of a product, run(state, first, end) each time. All of them are done when the product is.
struct SideWork {
  void (*run)(const void* state, std::size_t first, std::size_t end) = nullptr;
  const void* state = nullptr;
  std::size_t rows = 0;
};

// What goes on beside a product.
struct Meanwhile {
  const Bf16* prefetch = nullptr;  // read ahead of use: 256 bytes per step, 2 KiB apart (a slice of a panel)
  SideWork work;
};

// The unit is ready for blocks while one of these lives, on the thread that made it. Needs bf16_usable().
// Made afresh by every operation: another library on this thread may have configured tiles its own way, and a
// thread that is done with tiles should not make the kernel save them.
class BlockSession {
 public:
  BlockSession();
  ~BlockSession();
  BlockSession(const BlockSession&) = delete;
  BlockSession& operator=(const BlockSession&) = delete;

 private:
  Bf16Unit unit_;
};

// out [16·row_tiles, 32] = left·panel over `depth_tiles` steps of 32 along k; row_tiles is 1 or 2. In a
// session. A panel is the right factor's 32 columns: per step two tiles of [16 pairs along k][16 columns][2],
// contiguous. It is expected to be used again at once, by the rows below.
void multiply_block(const LeftTiles& left, const Bf16* panel, std::size_t depth_tiles, std::size_t row_tiles,
                    float* out, std::size_t out_stride, const Meanwhile& meanwhile = {});

}  // namespace dfrost

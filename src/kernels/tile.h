// The AMX tile unit: eight registers of 16 rows × 64 bytes, here four sums of 16×16 floats and two tiles of
// each factor in bf16. The only file that issues tile instructions; everything above speaks of blocks.
// A sum runs along k in steps of 32 in a fixed order, so it depends on its own row and column alone.
#pragma once

#include <cstddef>

#include "kernels/bf16.h"

namespace dfrost {

inline constexpr std::size_t kTileRows = 16;
inline constexpr std::size_t kTileDepth = 32;                       // bf16 numbers in a tile's row
inline constexpr std::size_t kTileSize = kTileRows * kTileDepth;    // numbers in a bf16 tile, 1 KiB
inline constexpr std::size_t kPanelCols = 32;                       // output columns worked on together
inline constexpr std::size_t kPanelStep = kPanelCols * kTileDepth;  // numbers of a panel per 32 of k, 2 KiB

// Tiles are configured while one of these lives, on the thread that made it. Needs amx_bf16_usable().
// Made afresh by every operation: another library on this thread may have configured tiles its own way, and a
// thread that is done with tiles should not make the kernel save them.
class TileSession {
 public:
  TileSession();
  ~TileSession();
  TileSession(const TileSession&) = delete;
  TileSession& operator=(const TileSession&) = delete;
};

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

// out [16·row_tiles, 32] = left·panel over `depth_tiles` steps of 32 along k; row_tiles is 1 or 2.
// A panel is the right factor's 32 columns: per step two tiles of [16 pairs along k][16 columns][2],
// contiguous. It is expected to be used again at once, by the rows below, and is kept in the nearest cache as
// far as it fits; the left factor is not.
void multiply_block(const LeftTiles& left, const Bf16* panel, std::size_t depth_tiles, std::size_t row_tiles,
                    float* out, std::size_t out_stride, const Meanwhile& meanwhile = {});

// Multiplies two small tiles and compares; crashes with SIGILL where there are none. For cpu.cc's guarded
// trial.
bool tile_trial_product_is_right();

}  // namespace dfrost

#include "kernels/tile.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>

// Only the tile extensions are switched on, function by function: no other instruction here may need more
// than the baseline, so that an emulator of the tile instructions alone can run this file. `noipa`, because
// GCC's tile load does not say that it reads memory: looking through the call, it could drop the stores that
// it loads.
#ifdef __clang__
#define DFROST_TILE_TARGET __attribute__((target("amx-tile,amx-bf16"), noinline))
#else
#define DFROST_TILE_TARGET __attribute__((target("amx-tile,amx-bf16"), noipa))
#endif

namespace dfrost {
namespace {

// The operand of LDTILECFG. Constant and in memory: GCC's intrinsic tells the compiler of its first 8 bytes
// only.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::array<std::uint8_t, 14> reserved{};
  std::array<std::uint16_t, 16> row_bytes{64, 64, 64, 64, 64, 64, 64, 64};
  std::array<std::uint8_t, 16> rows{16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);
const TileConfig kAllTilesFull;

// Of a panel, this many steps are kept in the nearest cache, 32 of its 48 KiB. What is further down and all
// of the left factor come from the second-level cache by the load that leaves the nearest one alone: had they
// to push each other out of it, every load would wait.
constexpr std::size_t kNearDepth = 16;

// Shares out rows of side work among the steps, evenly.
class SideShare {
 public:
  SideShare(const SideWork& work, std::size_t steps)
      : work_(work), per_step_(steps == 0 ? 0 : ((work.rows << kFraction) + steps - 1) / steps) {}
  void after_step() {
    reached_ += per_step_;
    do_until(std::min(work_.rows, reached_ >> kFraction));
  }
  void finish() { do_until(work_.rows); }

 private:
  static constexpr int kFraction = 16;
  void do_until(std::size_t end) {
    if (end > done_) work_.run(work_.state, done_, end);
    done_ = end;
  }
  const SideWork& work_;
  std::size_t per_step_, reached_ = 0, done_ = 0;
};

// Tiles 0–3 hold the sums (row by row), 4–5 the left factor, 6–7 the right. The two kernels differ in their
// number of rows only; tile numbers are part of the instruction, hence no loop over them, and the kind of
// load is too, hence macros.
#define DFROST_TWO_ROWS_STEP(load_right)        \
  load_right(6, panel, 64);                     \
  _tile_stream_loadd(4, upper, left.row_bytes); \
  _tile_dpbf16ps(0, 4, 6);                      \
  load_right(7, second_half, 64);               \
  _tile_dpbf16ps(1, 4, 7);                      \
  _tile_stream_loadd(5, lower, left.row_bytes); \
  _tile_dpbf16ps(2, 5, 6);                      \
  _tile_dpbf16ps(3, 5, 7)

#define DFROST_ONE_ROW_STEP(load_right)         \
  load_right(6, panel, 64);                     \
  _tile_stream_loadd(4, upper, left.row_bytes); \
  _tile_dpbf16ps(0, 4, 6);                      \
  load_right(7, second_half, 64);               \
  _tile_dpbf16ps(1, 4, 7)

DFROST_TILE_TARGET void multiply_two_rows(const LeftTiles& left, const Bf16* panel, std::size_t depth_tiles,
                                          float* out, std::size_t out_stride, const Meanwhile& meanwhile) {
  const char* upper = reinterpret_cast<const char*>(left.data);
  const char* lower = upper + left.tile_row_bytes;
  const Bf16* second_half = panel + kTileSize;
  // Hides from GCC that it is `panel` plus a constant: the sum would stand between the tile instructions,
  // which an emulator does in one go where nothing parts them.
  asm("" : "+r"(second_half));
  const Bf16* prefetch = meanwhile.prefetch;
  SideShare side(meanwhile.work, depth_tiles);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::size_t k = 0; k < depth_tiles; ++k) {
    if (k < kNearDepth) {
      DFROST_TWO_ROWS_STEP(_tile_loadd);
    } else {
      DFROST_TWO_ROWS_STEP(_tile_stream_loadd);
    }
    if (prefetch != nullptr) {
      for (std::size_t line = 0; line < 4; ++line) _mm_prefetch(prefetch + 32 * line, _MM_HINT_T1);
      prefetch += kPanelStep;
    }
    side.after_step();
    upper += left.depth_bytes;
    lower += left.depth_bytes;
    panel += kPanelStep;
    second_half += kPanelStep;
  }
  side.finish();
  const std::size_t bytes = out_stride * sizeof(float);
  float* const below = out + kTileRows * out_stride;
  _tile_stored(0, out, bytes);
  _tile_stored(1, out + 16, bytes);
  _tile_stored(2, below, bytes);
  _tile_stored(3, below + 16, bytes);
}

DFROST_TILE_TARGET void multiply_one_row(const LeftTiles& left, const Bf16* panel, std::size_t depth_tiles,
                                         float* out, std::size_t out_stride, const Meanwhile& meanwhile) {
  const char* upper = reinterpret_cast<const char*>(left.data);
  const Bf16* second_half = panel + kTileSize;
  SideShare side(meanwhile.work, depth_tiles);
  _tile_zero(0);
  _tile_zero(1);
  for (std::size_t k = 0; k < depth_tiles; ++k) {
    if (k < kNearDepth) {
      DFROST_ONE_ROW_STEP(_tile_loadd);
    } else {
      DFROST_ONE_ROW_STEP(_tile_stream_loadd);
    }
    side.after_step();
    upper += left.depth_bytes;
    panel += kPanelStep;
    second_half += kPanelStep;
  }
  side.finish();
  _tile_stored(0, out, out_stride * sizeof(float));
  _tile_stored(1, out + 16, out_stride * sizeof(float));
}

}  // namespace

DFROST_TILE_TARGET void configure_tiles() { _tile_loadconfig(&kAllTilesFull); }
DFROST_TILE_TARGET void release_tiles() { _tile_release(); }

void multiply_block_on_tiles(const LeftTiles& left, const Bf16* panel, std::size_t depth_tiles,
                             std::size_t row_tiles, float* out, std::size_t out_stride,
                             const Meanwhile& meanwhile) {
  assert(row_tiles == 1 || row_tiles == 2);
  if (row_tiles == 2) return multiply_two_rows(left, panel, depth_tiles, out, out_stride, meanwhile);
  multiply_one_row(left, panel, depth_tiles, out, out_stride, meanwhile);
}

bool tile_trial_product_is_right() {
  alignas(64) std::array<Bf16, kTileSize> left;
  alignas(64) std::array<Bf16, kPanelStep> panel;
  alignas(64) std::array<float, kTileRows * kPanelCols> out;
  // Small whole numbers: every sum is exact, so any order of summation must give it.
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = to_bf16(static_cast<float>(i % 7));
  for (std::size_t i = 0; i < panel.size(); ++i) panel[i] = to_bf16(static_cast<float>(i % 5) - 2.0f);
  configure_tiles();
  multiply_block_on_tiles({left.data(), 64, 0, 0}, panel.data(), 1, 1, out.data(), kPanelCols, {});
  release_tiles();
  for (std::size_t r = 0; r < kTileRows; ++r) {
    for (std::size_t c = 0; c < kPanelCols; ++c) {
      float sum = 0;
      for (std::size_t k = 0; k < kTileDepth; ++k) {
        const std::size_t place = (c / 16) * kTileSize + (k / 2) * 32 + (c % 16) * 2 + k % 2;
        sum += to_float(left[r * kTileDepth + k]) * to_float(panel[place]);
      }
      if (out[r * kPanelCols + c] != sum) return false;
    }
  }
  return true;
}

}  // namespace dfrost

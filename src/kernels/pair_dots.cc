#include "kernels/pair_dots.h"

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#define DFROST_PAIRS_TARGET __attribute__((target("avx512f,avx512bw,avx512bf16")))

namespace dfrost {
namespace {

// Sixteen sums: more than enough to hide the instruction's latency, and few enough to stay in registers
// beside the two vectors of the panel. Rows of the left factor come as broadcasts, a load each.
constexpr std::size_t kRowsTogether = 8;
constexpr std::size_t kPairs = kTileDepth / 2;

DFROST_PAIRS_TARGET inline __m512bh broadcast_pair(const char* at) {
  std::int32_t pair;
  std::memcpy(&pair, at, sizeof(pair));
  return reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
}

DFROST_PAIRS_TARGET inline __m512bh load_pairs(const Bf16* at) {
  return reinterpret_cast<__m512bh>(_mm512_loadu_si512(at));
}

// out [8, 32] = left·panel, whose first row is at `first_row`.
DFROST_PAIRS_TARGET void multiply_rows(const char* first_row, const LeftTiles& left, const Bf16* panel,
                                       std::size_t depth_tiles, float* out, std::size_t out_stride) {
  __m512 sums[kRowsTogether][2];
  for (auto& row : sums) row[0] = row[1] = _mm512_setzero_ps();
  for (std::size_t k = 0; k < depth_tiles; ++k) {
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      const __m512bh near_half = load_pairs(panel + pair * kPanelCols);
      const __m512bh far_half = load_pairs(panel + kTileSize + pair * kPanelCols);
      const char* const column = first_row + pair * 2 * sizeof(Bf16);
      for (std::size_t r = 0; r < kRowsTogether; ++r) {
        const __m512bh factor = broadcast_pair(column + r * left.row_bytes);
        sums[r][0] = _mm512_dpbf16_ps(sums[r][0], factor, near_half);
        sums[r][1] = _mm512_dpbf16_ps(sums[r][1], factor, far_half);
      }
    }
    first_row += left.depth_bytes;
    panel += kPanelStep;
  }
  for (std::size_t r = 0; r < kRowsTogether; ++r) {
    _mm512_storeu_ps(out + r * out_stride, sums[r][0]);
    _mm512_storeu_ps(out + r * out_stride + 16, sums[r][1]);
  }
}

void fetch_ahead(const Bf16* slice, std::size_t depth_tiles) {
  for (std::size_t k = 0; k < depth_tiles; ++k, slice += kPanelStep) {
    for (std::size_t line = 0; line < 4; ++line) _mm_prefetch(slice + 32 * line, _MM_HINT_T1);
  }
}

}  // namespace

void multiply_block_by_pairs(const LeftTiles& left, const Bf16* panel, std::size_t depth_tiles,
                             std::size_t row_tiles, float* out, std::size_t out_stride,
                             const Meanwhile& meanwhile) {
  if (meanwhile.prefetch != nullptr) fetch_ahead(meanwhile.prefetch, depth_tiles);
  // The same unit does both, so nothing is won by doing the rest between the steps of a product.
  const SideWork& work = meanwhile.work;
  if (work.rows > 0) work.run(work.state, 0, work.rows);
  const char* rows = reinterpret_cast<const char*>(left.data);
  for (std::size_t tile = 0; tile < row_tiles; ++tile, rows += left.tile_row_bytes) {
    for (std::size_t row = 0; row < kTileRows; row += kRowsTogether) {
      multiply_rows(rows + row * left.row_bytes, left, panel, depth_tiles,
                    out + (tile * kTileRows + row) * out_stride, out_stride);
    }
  }
}

}  // namespace dfrost

#include "kernels/bf16_pack.h"

#include <emmintrin.h>

#include <algorithm>
#include <cassert>

#include "kernels/bf16_rows.h"

// SSE2 is the baseline of x86-64: no dispatch, and for moving 16- and 32-bit pieces about wider registers
// gain little, since their shuffles work within 128 bits too.

namespace dfrost {
namespace {

__m128i load(const Bf16* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
void store(Bf16* p, __m128i x) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), x); }

// 4 rows of 4 pairs -> 4 rows of 4 pairs.
void transpose_4x4_pairs(const Bf16* from, std::size_t from_stride, Bf16* to, std::size_t to_stride) {
  const __m128i r0 = load(from), r1 = load(from + from_stride);
  const __m128i r2 = load(from + 2 * from_stride), r3 = load(from + 3 * from_stride);
  const __m128i low01 = _mm_unpacklo_epi32(r0, r1), high01 = _mm_unpackhi_epi32(r0, r1);
  const __m128i low23 = _mm_unpacklo_epi32(r2, r3), high23 = _mm_unpackhi_epi32(r2, r3);
  store(to, _mm_unpacklo_epi64(low01, low23));
  store(to + to_stride, _mm_unpackhi_epi64(low01, low23));
  store(to + 2 * to_stride, _mm_unpacklo_epi64(high01, high23));
  store(to + 3 * to_stride, _mm_unpackhi_epi64(high01, high23));
}

// 16 rows of 32 numbers -> one tile of a panel: the transpose in units of two neighbours.
void transpose_to_panel_tile(const Bf16* from, std::size_t stride, Bf16* tile) {
  for (std::size_t row = 0; row < kTileRows; row += 4) {
    for (std::size_t pair = 0; pair < 16; pair += 4) {
      transpose_4x4_pairs(from + row * stride + 2 * pair, stride, tile + pair * 32 + 2 * row, 32);
    }
  }
}

void transpose_8x8(const Bf16* from, Bf16* to) {
  constexpr std::size_t kStride = kTileDepth;
  __m128i a[8], b[8];
  for (std::size_t i = 0; i < 8; ++i) a[i] = load(from + i * kStride);
  for (std::size_t i = 0; i < 8; i += 2) {  // rows i and i+1, pair by pair
    b[i] = _mm_unpacklo_epi16(a[i], a[i + 1]);
    b[i + 1] = _mm_unpackhi_epi16(a[i], a[i + 1]);
  }
  for (std::size_t i = 0; i < 8; i += 4) {  // columns of four rows
    a[i] = _mm_unpacklo_epi32(b[i], b[i + 2]);
    a[i + 1] = _mm_unpackhi_epi32(b[i], b[i + 2]);
    a[i + 2] = _mm_unpacklo_epi32(b[i + 1], b[i + 3]);
    a[i + 3] = _mm_unpackhi_epi32(b[i + 1], b[i + 3]);
  }
  for (std::size_t i = 0; i < 4; ++i) {  // columns of eight
    store(to + 2 * i * kStride, _mm_unpacklo_epi64(a[i], a[i + 4]));
    store(to + (2 * i + 1) * kStride, _mm_unpackhi_epi64(a[i], a[i + 4]));
  }
}

}  // namespace

void pack_weights(MatrixView<const float> matrix, PanelMatrix& out) {
  out.resize(matrix.cols(), matrix.rows());
  const std::size_t stride = out.depth_tiles() * kTileDepth;
  AlignedBuffer<Bf16> rounded(kTileRows * stride);
  for (std::size_t first = 0; first < out.panels() * kPanelCols; first += kTileRows) {
    std::fill_n(rounded.data(), rounded.size(), Bf16{0});
    const std::size_t count = std::min(kTileRows, matrix.rows() - std::min(first, matrix.rows()));
    if (count > 0) round_rows(matrix.rows_from(first, count), rounded.data(), stride);
    Bf16* const tile = out.panel(first / kPanelCols) + first % kPanelCols / 16 * kTileSize;
    for (std::size_t k = 0; k < out.depth_tiles(); ++k) {
      transpose_to_panel_tile(rounded.data() + k * kTileDepth, stride, tile + k * kPanelStep);
    }
  }
}

void pack_transposed(const Bf16Rows& x, PanelMatrix& out) {
  out.resize(x.cols, x.rows);
  alignas(64) Bf16 edge[kTileSize];
  for (std::size_t first = 0; first < out.panels() * kPanelCols; first += kTileRows) {
    Bf16* const tile = out.panel(first / kPanelCols) + first % kPanelCols / 16 * kTileSize;
    const std::size_t rows = std::min(kTileRows, x.rows - std::min(first, x.rows));
    for (std::size_t k = 0; k < out.depth_tiles(); ++k) {
      const std::size_t cols = std::min(kTileDepth, x.cols - k * kTileDepth);
      const Bf16* const from = x.data + first * x.stride + k * kTileDepth;
      if (rows == kTileRows && cols == kTileDepth) {
        transpose_to_panel_tile(from, x.stride, tile + k * kPanelStep);
        continue;
      }
      std::fill_n(edge, kTileSize, Bf16{0});
      for (std::size_t r = 0; r < rows; ++r) std::copy_n(from + r * x.stride, cols, edge + r * kTileDepth);
      transpose_to_panel_tile(edge, kTileDepth, tile + k * kPanelStep);
    }
  }
}

void pack_panels(const Bf16Rows& x, PanelMatrix& out) {
  out.resize(x.rows, x.cols);
  alignas(16) static constexpr Bf16 kZeros[kPanelCols] = {};
  for (std::size_t p = 0; p < out.panels(); ++p) {
    for (std::size_t k = 0; k < out.depth_tiles() * kTileDepth; k += 2) {
      const Bf16* const even = k < x.rows ? x.data + k * x.stride + p * kPanelCols : kZeros;
      const Bf16* const odd = k + 1 < x.rows ? x.data + (k + 1) * x.stride + p * kPanelCols : kZeros;
      Bf16* const to = out.panel(p) + k / kTileDepth * kPanelStep + k % kTileDepth / 2 * 32;
      for (std::size_t c = 0; c < kPanelCols; c += 8) {
        Bf16* const pairs = to + c / 16 * kTileSize + c % 16 * 2;
        store(pairs, _mm_unpacklo_epi16(load(even + c), load(odd + c)));
        store(pairs + 8, _mm_unpackhi_epi16(load(even + c), load(odd + c)));
      }
    }
  }
}

void transpose_tiles(const Bf16* tiles, std::size_t blocks, Bf16* out) {
  const auto tile = [=](auto* base, std::size_t row_tile, std::size_t col_tile) {
    return base + (row_tile * blocks + col_tile) * kTileSize;
  };
  for (std::size_t row_tile = 0; row_tile < 2 * blocks; ++row_tile) {
    for (std::size_t col_tile = 0; col_tile < blocks; ++col_tile) {
      Bf16* const to = tile(out, row_tile, col_tile);
      for (std::size_t col = 0; col < kTileDepth; col += 8) {
        const Bf16* const from = tile(tiles, 2 * col_tile + col / 16, row_tile / 2) + row_tile % 2 * 16;
        for (std::size_t row = 0; row < kTileRows; row += 8) {
          transpose_8x8(from + col % 16 * kTileDepth + row, to + row * kTileDepth + col);
        }
      }
    }
  }
}

void select_tile_rows(const TiledMatrix& in, std::span<const std::size_t> rows, TiledMatrix& out) {
  out.resize(rows.size(), in.cols());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    assert(rows[r] < in.rows());
    for (std::size_t c = 0; c < in.col_tiles(); ++c) {
      std::copy_n(in.segment(rows[r], c), kTileDepth, out.segment(r, c));
    }
  }
}

}  // namespace dfrost

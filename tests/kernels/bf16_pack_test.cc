#include "kernels/bf16_pack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/bf16_rows.h"
#include "kernels/bf16_support.h"

namespace dfrost {
namespace {

using test::random_bf16_floats;
using test::random_floats;

TEST(Bf16, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(to_float(to_bf16(1.0f)), 1.0f);
  EXPECT_EQ(to_float(to_bf16(1.0f + 0x1p-8f)), 1.0f);                    // a tie, down to even
  EXPECT_EQ(to_float(to_bf16(1.0f + 3 * 0x1p-8f)), 1.0f + 2 * 0x1p-7f);  // a tie, up to even
  EXPECT_EQ(to_float(to_bf16(1.0f + 0x1.8p-8f)), 1.0f + 0x1p-7f);
  EXPECT_EQ(to_float(to_bf16(-2.71828f)), -2.71875f);
  EXPECT_EQ(to_float(to_bf16(std::numeric_limits<float>::max())), std::numeric_limits<float>::infinity());
  EXPECT_EQ(to_float(to_bf16(0x1p-133f)), 0x1p-133f);  // the smallest subnormal
  EXPECT_TRUE(std::signbit(to_float(to_bf16(-0.0f))));
}

TEST(Bf16, KeepsEveryNanANan) {
  for (const std::uint32_t bits : {0x7fc00000u, 0x7f800001u, 0x7fffffffu, 0xffffffffu, 0xff800001u}) {
    EXPECT_TRUE(std::isnan(to_float(to_bf16(std::bit_cast<float>(bits))))) << std::hex << bits;
  }
}

// A processor that rounds to bf16 by itself takes subnormals for zero.
bool is_rounded(Bf16 out, float x) {
  const bool flushed = std::fpclassify(x) == FP_SUBNORMAL && out == to_bf16(std::copysign(0.0f, x));
  return out == to_bf16(x) || flushed;
}

TEST(RoundRows, RoundsAsOneNumberAtATimeDoesWhateverTheBits) {
  RandomStream random(1, "bits");
  Matrix<float> x(3, 333);
  for (std::size_t i = 0; i < 3 * 333; ++i) {
    x.data()[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
  }
  x.data()[0] = std::numeric_limits<float>::quiet_NaN();
  x.data()[1] = std::bit_cast<float>(0x7f800001u);
  std::vector<Bf16> out(3 * 400, Bf16{1});
  round_rows(x, out.data(), 400);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 400; ++c) {
      const Bf16 got = out[r * 400 + c];
      ASSERT_TRUE(c < 333 ? is_rounded(got, x.row(r)[c]) : got == Bf16{1}) << r << ", " << c;
    }
  }
}

TEST(StoreToTiles, PutsEveryNumberInItsPlaceAndTouchesNoOther) {
  for (const std::size_t col : {0u, 5u, 32u, 48u}) {
    TiledMatrix out(40, 100);
    for (std::size_t r = 0; r < 40; ++r) {
      for (std::size_t c = 0; c < 100; ++c) out.segment(r, c / 32)[c % 32] = to_bf16(7.0f);
    }
    const auto x = random_bf16_floats(20, 45, 1);
    store_to_tiles(x, out, 13, col);
    for (std::size_t r = 0; r < 40; ++r) {
      for (std::size_t c = 0; c < 100; ++c) {
        const bool inside = r >= 13 && r < 33 && c >= col && c < col + 45;
        ASSERT_EQ(out.at(r, c), inside ? x.row(r - 13)[c - col] : 7.0f) << r << ", " << c;
      }
    }
  }
}

TEST(TiledMatrix, HasZerosWhereItIsPadded) {
  TiledMatrix m(16 * 3, 32 * 3);
  std::fill_n(m.tile(0, 0), 9 * kTileSize, Bf16{0xffff});
  m.resize(20, 40);
  for (std::size_t r = 20; r < 32; ++r) {
    for (std::size_t c = 0; c < 64; ++c) EXPECT_EQ(m.at(r, c), 0.0f);
  }
  for (std::size_t r = 0; r < 20; ++r) {
    for (std::size_t c = 40; c < 64; ++c) EXPECT_EQ(m.at(r, c), 0.0f);
  }
}

TEST(PackWeights, LaysNeighboursAlongKSideBySideAndPadsWithZeros) {
  for (const auto& [outputs, inputs] :
       {std::pair<std::size_t, std::size_t>{1, 1}, {32, 32}, {50, 70}, {96, 64}}) {
    const auto w = random_bf16_floats(outputs, inputs, 2);
    PanelMatrix packed;
    pack_weights(w, packed);
    ASSERT_EQ(packed.bytes(), packed.panels() * packed.depth_tiles() * 2048);
    for (std::size_t k = 0; k < packed.depth_tiles() * 32; ++k) {
      for (std::size_t c = 0; c < packed.panels() * 32; ++c) {
        const float expected = k < inputs && c < outputs ? w.row(c)[k] : 0.0f;
        ASSERT_EQ(packed.at(k, c), expected) << k << ", " << c;
      }
    }
  }
  // The layout itself, once, number by number: pairs along k, then 16 columns, then pairs, then tiles.
  Matrix<float> w(32, 32);
  for (std::size_t i = 0; i < 1024; ++i) w.data()[i] = static_cast<float>(i % 251);
  PanelMatrix packed;
  pack_weights(w, packed);
  const Bf16* p = packed.panel(0);
  EXPECT_EQ(to_float(p[1]), w.row(0)[1]);
  EXPECT_EQ(to_float(p[2]), w.row(1)[0]);
  EXPECT_EQ(to_float(p[32]), w.row(0)[2]);
  EXPECT_EQ(to_float(p[512]), w.row(16)[0]);
}

TEST(PackRows, GivesTheMatrixAndItsTransposeForHeadsInsideWiderRows) {
  for (const auto& [tokens, size] :
       {std::pair<std::size_t, std::size_t>{60, 64}, {7, 16}, {33, 48}, {32, 80}}) {
    const auto x = random_bf16_floats(2 * tokens, 3 * size, 3);
    const RowMatrix rows = test::row_matrix_of(x);
    // The middle head of the second image.
    const Bf16Rows head{rows.row(tokens) + size, tokens, size, rows.stride()};
    PanelMatrix straight, transposed;
    pack_panels(head, straight);
    pack_transposed(head, transposed);
    for (std::size_t t = 0; t < straight.depth_tiles() * 32; ++t) {
      for (std::size_t c = 0; c < size; ++c) {
        ASSERT_EQ(straight.at(t, c), t < tokens ? x.row(tokens + t)[size + c] : 0.0f);
      }
    }
    for (std::size_t c = 0; c < transposed.depth_tiles() * 32; ++c) {
      for (std::size_t t = 0; t < transposed.panels() * 32; ++t) {
        ASSERT_EQ(transposed.at(c, t), c < size && t < tokens ? x.row(tokens + t)[size + c] : 0.0f);
      }
    }
  }
}

TEST(TransposeTiles, SwapsRowsAndColumns) {
  for (const std::size_t blocks : {1u, 2u, 3u}) {
    const std::size_t n = 32 * blocks;
    const auto x = random_bf16_floats(n, n, 4);
    TiledMatrix tiles(n, n), out(n, n);
    store_to_tiles(x, tiles, 0, 0);
    transpose_tiles(tiles.tile(0, 0), blocks, out.tile(0, 0));
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t c = 0; c < n; ++c) ASSERT_EQ(out.at(r, c), x.row(c)[r]);
    }
  }
}

TEST(SelectTileRows, CopiesTheRowsAskedFor) {
  const auto x = random_bf16_floats(40, 70, 5);
  TiledMatrix tiles(40, 70), out;
  store_to_tiles(x, tiles, 0, 0);
  const std::vector<std::size_t> rows = {39, 0, 17, 17};
  select_tile_rows(tiles, rows, out);
  ASSERT_EQ(out.rows(), 4u);
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 70; ++c) EXPECT_EQ(out.at(r, c), x.row(rows[r])[c]);
  }
}

}  // namespace
}  // namespace dfrost

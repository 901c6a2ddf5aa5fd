#include "kernels/bf16_gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "kernels/bf16_pack.h"
#include "kernels/bf16_rows.h"
#include "kernels/bf16_support.h"
#include "support/amx_emulator.h"

namespace dfrost {
namespace {

// Collects the blocks and counts how often each was given.
struct Collect {
  static constexpr bool kAccumulates = true;
  Matrix<float>& out;  // padded to whole blocks
  Matrix<int>& visits;

  void prefetch(const BlockPlace&) const {}
  void operator()(const float* block, const BlockPlace& place, bool opens, const BlockRows& rows) const {
    for (std::size_t r = rows.first; r < rows.end; ++r) {
      for (std::size_t c = 0; c < kPanelCols; ++c) {
        float& sum = out.row(place.row_tile * kTileRows + r)[place.panel * kPanelCols + c];
        sum = (opens ? 0.0f : sum) + block[r * kPanelCols + c];
      }
      ++visits.row(place.row_tile * kTileRows + r)[place.panel];
    }
  }
};

struct Product {
  Matrix<float> sums;
  Matrix<int> visits;
};

Product multiply_blocked(const TiledMatrix& left, const PanelMatrix& right, const Blocking& blocking) {
  const std::size_t rows = left.row_tiles() * kTileRows;
  Product product{Matrix<float>(rows, right.panels() * kPanelCols), Matrix<int>(rows, right.panels())};
  std::fill_n(product.visits.data(), rows * right.panels(), 0);
  multiply(left, right, blocking, Collect{product.sums, product.visits});
  return product;
}

struct Factors {
  TiledMatrix left;
  PanelMatrix right;
};

Factors random_factors(std::size_t m, std::size_t n, std::size_t k) {
  Factors f;
  f.left.resize(m, k);
  store_to_tiles(test::random_floats(m, k, 1), f.left, 0, 0);
  pack_weights(test::random_floats(n, k, 2), f.right);
  return f;
}

TEST(MultiplyBlock, DoesEveryRowOfTheSideWorkOnceAndInOrder) {
  const test::Bf16ForTest bf16_here;
  const auto f = random_factors(32, 32, 160);
  for (const std::size_t row_tiles : {1u, 2u}) {
    for (const std::size_t rows : {0u, 1u, 3u, 16u, 32u, 100u}) {
      for (const std::size_t depth : {0u, 1u, 3u, 5u}) {
        std::size_t done = 0;
        const auto run = [](const void* state, std::size_t first, std::size_t end) {
          auto& reached = **static_cast<std::size_t* const*>(state);
          EXPECT_EQ(first, reached);
          EXPECT_LT(first, end);
          reached = end;
        };
        std::size_t* const counter = &done;
        alignas(64) float out[2 * kTileRows * kPanelCols];
        const BlockSession session;
        multiply_block({f.left.tile(0, 0), 64, 1024, 1024 * f.left.col_tiles()}, f.right.panel(0), depth,
                       row_tiles, out, kPanelCols, {nullptr, {run, &counter, rows}});
        EXPECT_EQ(done, rows) << depth << " steps";
      }
    }
  }
}

TEST(Bf16Gemm, AgreesWithThePlainLoopsForAnyShape) {
  const test::Bf16ForTest bf16_here;
  for (const auto& [m, n, k] : {std::array<std::size_t, 3>{1, 1, 1},
                                {16, 32, 32},
                                {17, 33, 31},
                                {32, 64, 96},
                                {48, 32, 64},  // an odd number of row tiles
                                {100, 70, 130},
                                {8, 96, 192}}) {
    const auto [left, right] = random_factors(m, n, k);
    const auto expected = multiply_slowly(left, right);
    const auto product =
        multiply_blocked(left, right, {2 * tiles_for(left.row_tiles(), 2), right.depth_tiles()});
    for (std::size_t r = 0; r < m; ++r) {
      for (std::size_t c = 0; c < n; ++c) {
        ASSERT_NEAR(product.sums.row(r)[c], expected.row(r)[c], 1e-6 * static_cast<double>(k) + 1e-5);
      }
    }
  }
}

// What a machine with tiles takes only where the kernel does not grant them.
TEST(PairDots, GiveWhatTheTilesGiveToWithinRounding) {
  if (!kCpuRoundsToBf16) GTEST_SKIP() << "SKIPPED: this machine has no AVX512_BF16";
  for (const auto& [m, n, k] : {std::array<std::size_t, 3>{1, 1, 1}, {17, 33, 31}, {48, 70, 1030}}) {
    const auto [left, right] = random_factors(m, n, k);
    const auto product_on = [&, &left = left, &right = right](Bf16Unit unit) {
      const ScopedBf16UnitForTesting on(unit);
      return multiply_blocked(left, right, {4, right.depth_tiles()});
    };
    const auto by_pairs = product_on(Bf16Unit::pairs);
    const test::AmxForTest amx;
    const auto on_tiles = product_on(Bf16Unit::tiles);
    for (std::size_t r = 0; r < m; ++r) {
      for (std::size_t c = 0; c < n; ++c) {
        ASSERT_NEAR(by_pairs.sums.row(r)[c], on_tiles.sums.row(r)[c], 1e-6 * static_cast<double>(k) + 1e-5);
      }
    }
  }
}

TEST(Bf16Gemm, GivesEveryBlockOncePerPartOfTheDepthAndTheSameSumsWhateverTheRowBlocking) {
  const test::Bf16ForTest bf16_here;
  const auto [left, right] = random_factors(100, 70, 200);  // 7 × 3 × 7 tiles
  const auto whole = multiply_blocked(left, right, {8, 7});
  for (const Blocking blocking : {Blocking{2, 7}, {4, 7}, {6, 7}, {100, 100}}) {
    const auto product = multiply_blocked(left, right, blocking);
    EXPECT_TRUE(std::equal(whole.sums.data(), whole.sums.data() + 112 * 96, product.sums.data()));
    EXPECT_TRUE(
        std::all_of(product.visits.data(), product.visits.data() + 112 * 3, [](int v) { return v == 1; }));
  }
  const auto parts = multiply_blocked(left, right, {4, 3});
  EXPECT_TRUE(std::all_of(parts.visits.data(), parts.visits.data() + 112 * 3, [](int v) { return v == 3; }));
  for (std::size_t i = 0; i < 112 * 96; ++i) ASSERT_NEAR(parts.sums.data()[i], whole.sums.data()[i], 1e-4);
}

TEST(Bf16Gemm, ARowDoesNotDependOnHowManyThereAreOrOnItsPlace) {
  const test::Bf16ForTest bf16_here;
  const std::size_t k = 96, n = 64;
  const auto x = test::random_floats(75, k, 1);
  PanelMatrix right;
  pack_weights(test::random_floats(n, k, 2), right);
  TiledMatrix all(75, k);
  store_to_tiles(x, all, 0, 0);
  const auto together =
      multiply_blocked(all, right, choose_blocking(all.row_tiles(), right.depth_tiles(), true));
  for (const std::size_t first : {0u, 15u, 16u, 33u, 74u}) {
    TiledMatrix one(1, k);
    store_to_tiles(x.view().rows_from(first, 1), one, 0, 0);
    const auto alone = multiply_blocked(one, right, choose_blocking(1, right.depth_tiles(), true));
    for (std::size_t c = 0; c < n; ++c) EXPECT_EQ(alone.sums.row(0)[c], together.sums.row(first)[c]);
  }
}

TEST(ChooseBlocking, KeepsTheLeftSlabWithinAMebibyteAndItsRowsInTwos) {
  for (const std::size_t rows : {1u, 2u, 7u, 30u, 104u, 1000u}) {
    for (const std::size_t depth : {1u, 6u, 24u, 32u, 72u, 96u, 128u, 700u}) {
      for (const bool split : {false, true}) {
        const Blocking b = choose_blocking(rows, depth, split);
        EXPECT_EQ(b.row_tiles % 2, 0u);
        EXPECT_GE(b.row_tiles, 2u);
        EXPECT_LE(b.depth_tiles, split ? 32u : depth);
        EXPECT_TRUE(b.row_tiles <= 2 || (b.row_tiles - 1) * b.depth_tiles <= 1024)
            << rows << " " << depth << " " << split;
      }
    }
  }
  // The shapes that matter: 8 images of 60 tokens in one slab, the MLP's 3072 in three parts.
  EXPECT_EQ(choose_blocking(30, 24, false).row_tiles, 30u);
  EXPECT_EQ(choose_blocking(30, 96, true).depth_tiles, 32u);
  EXPECT_EQ(choose_blocking(30, 96, true).row_tiles, 30u);
}

// In a release build this is no assertion but the processor's own answer.
TEST(BlockSessionDeathTest, IsAProgrammersErrorOnTilesThatAreNotThere) {
  if (bf16_unit() == Bf16Unit::tiles) GTEST_SKIP() << "SKIPPED: this machine has tiles";
  EXPECT_DEATH(
      {
        const ScopedBf16UnitForTesting wrongly(Bf16Unit::tiles);
        const BlockSession session;
      },
      "");
}

}  // namespace
}  // namespace dfrost

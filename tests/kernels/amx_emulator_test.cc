#include "support/amx_emulator.h"

#include <gtest/gtest.h>
#include <immintrin.h>
#include <setjmp.h>
#include <signal.h>

#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "base/random.h"
#include "kernels/bf16.h"
#include "kernels/tile.h"

#ifdef __clang__
#define DFROST_TILE_TARGET __attribute__((target("amx-tile,amx-bf16"), noinline))
#else
#define DFROST_TILE_TARGET __attribute__((target("amx-tile,amx-bf16"), noipa))
#endif

namespace dfrost::test {
namespace {

using Code = std::vector<std::uint8_t>;

std::optional<AmxInstruction> decode(Code code) {
  code.resize(16);
  return decode_amx(code.data());
}

TEST(AmxDecode, ReadsTheEncodingsOfTheAssembler) {
  struct Case {
    Code code;
    AmxInstruction expected;
  };
  using enum AmxOperation;
  // Bytes as GNU as writes them for the instruction in the comment.
  const std::vector<Case> cases = {
      // ldtilecfg (%rdi)
      {{0xc4, 0xe2, 0x78, 0x49, 0x07}, {.operation = load_config, .base = 7}},
      // ldtilecfg 0x40(%rsp)
      {{0xc4, 0xe2, 0x78, 0x49, 0x44, 0x24, 0x40},
       {.operation = load_config, .base = 4, .displacement = 0x40}},
      // ldtilecfg 0x12345(%rip)
      {{0xc4, 0xe2, 0x78, 0x49, 0x05, 0x45, 0x23, 0x01, 0x00},
       {.operation = load_config, .displacement = 0x12345, .relative_to_next = true}},
      // ldtilecfg (%r13)
      {{0xc4, 0xc2, 0x78, 0x49, 0x45, 0x00}, {.operation = load_config, .base = 13}},
      // ldtilecfg -0x80(%r12,%r9,4)
      {{0xc4, 0x82, 0x78, 0x49, 0x44, 0x8c, 0x80},
       {.operation = load_config, .base = 12, .index = 9, .scale = 4, .displacement = -0x80}},
      // sttilecfg 0x100(%r8)
      {{0xc4, 0xc2, 0x79, 0x49, 0x80, 0x00, 0x01, 0x00, 0x00},
       {.operation = store_config, .base = 8, .displacement = 0x100}},
      // tilerelease
      {{0xc4, 0xe2, 0x78, 0x49, 0xc0}, {.operation = release}},
      // tilezero %tmm5
      {{0xc4, 0xe2, 0x7b, 0x49, 0xe8}, {.operation = zero, .tile = 5}},
      // tileloadd (%rax,%rbx,1), %tmm3
      {{0xc4, 0xe2, 0x7b, 0x4b, 0x1c, 0x18}, {.operation = load, .tile = 3, .base = 0, .index = 3}},
      // tileloadd 0x400(%r15,%r14,2), %tmm7
      {{0xc4, 0x82, 0x7b, 0x4b, 0xbc, 0x77, 0x00, 0x04, 0x00, 0x00},
       {.operation = load, .tile = 7, .base = 15, .index = 14, .scale = 2, .displacement = 0x400}},
      // tileloadd (%rbp,%r12,1), %tmm0
      {{0xc4, 0xa2, 0x7b, 0x4b, 0x44, 0x25, 0x00}, {.operation = load, .tile = 0, .base = 5, .index = 12}},
      // tileloadd 0x10(,%rcx,8), %tmm1
      {{0xc4, 0xe2, 0x7b, 0x4b, 0x0c, 0xcd, 0x10, 0x00, 0x00, 0x00},
       {.operation = load, .tile = 1, .index = 1, .scale = 8, .displacement = 0x10}},
      // tileloaddt1 -0x10(%r9,%rdx,1), %tmm6
      {{0xc4, 0xc2, 0x79, 0x4b, 0x74, 0x11, 0xf0},
       {.operation = load, .tile = 6, .base = 9, .index = 2, .displacement = -0x10}},
      // tilestored %tmm2, (%rsi,%r10,1)
      {{0xc4, 0xa2, 0x7a, 0x4b, 0x14, 0x16}, {.operation = store, .tile = 2, .base = 6, .index = 10}},
      // tdpbf16ps %tmm7, %tmm5, %tmm3
      {{0xc4, 0xe2, 0x42, 0x5c, 0xdd}, {.operation = dot_bf16, .tile = 3, .left = 5, .right = 7}},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto got = decode(cases[i].code);
    const AmxInstruction& want = cases[i].expected;
    ASSERT_TRUE(got) << "case " << i;
    EXPECT_EQ(got->length, cases[i].code.size()) << "case " << i;
    EXPECT_EQ(got->operation, want.operation) << "case " << i;
    EXPECT_EQ(std::tie(got->tile, got->left, got->right), std::tie(want.tile, want.left, want.right)) << i;
    EXPECT_EQ(std::tie(got->base, got->index, got->scale, got->displacement),
              std::tie(want.base, want.index, want.scale, want.displacement))
        << "case " << i;
    EXPECT_EQ(got->relative_to_next, want.relative_to_next) << "case " << i;
  }
}

TEST(AmxDecode, RefusesWhatIsNotInItsList) {
  EXPECT_FALSE(decode({0x0f, 0x0b}));                    // ud2
  EXPECT_FALSE(decode({0xc4, 0xe2, 0x4b, 0x5e, 0xc4}));  // tdpbssd %tmm6, %tmm4, %tmm0
  EXPECT_FALSE(decode({0xc4, 0xe2, 0x7d, 0x18, 0x07}));  // vbroadcastss (%rdi), %ymm0
  EXPECT_FALSE(decode({0xc4, 0xe2, 0x7b, 0x4b, 0x07}));  // a tile load without a SIB byte
}

// The manual's pseudo-code, word by word: fused multiply-adds into an even and an odd sum, then their sum.
Tile dot_bf16_by_the_manual(const Tile& left, const Tile& right, Tile sum) {
  const auto flushed = [](float x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
  };
  const auto number = [&](const Tile& tile, std::size_t row, std::size_t at) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, &tile.rows[row][2 * at], 2);
    return flushed(to_float({bits}));
  };
  for (std::size_t m = 0; m < 16; ++m) {
    for (std::size_t n = 0; n < 16; ++n) {
      float even = 0, odd = 0;
      for (std::size_t k = 0; k < 16; ++k) {
        even = flushed(std::fma(number(left, m, 2 * k), number(right, k, 2 * n), even));
        odd = flushed(std::fma(number(left, m, 2 * k + 1), number(right, k, 2 * n + 1), odd));
      }
      float total = 0;
      std::memcpy(&total, &sum.rows[m][4 * n], 4);
      total = flushed(flushed(total) + flushed(even + odd));
      std::memcpy(&sum.rows[m][4 * n], &total, 4);
    }
  }
  return sum;
}

Tile random_bf16_tile(RandomStream& random, int exponent_spread) {
  Tile tile;
  for (auto& row : tile.rows) {
    for (std::size_t i = 0; i < 32; ++i) {
      const double scale = std::exp2(random.uniform(-exponent_spread, exponent_spread));
      const Bf16 x = to_bf16(static_cast<float>(random.normal() * scale));
      std::memcpy(&row[2 * i], &x, 2);
    }
  }
  return tile;
}

TEST(AmxEmulator, MultipliesBitForBitAsTheManualSays) {
  RandomStream random(1, "tiles");
  for (const int spread : {0, 10, 60}) {  // 60: products reach subnormals and the largest numbers
    for (int repeat = 0; repeat < 20; ++repeat) {
      const Tile left = random_bf16_tile(random, spread), right = random_bf16_tile(random, spread);
      Tile sum = random_bf16_tile(random, spread);
      const Tile expected = dot_bf16_by_the_manual(left, right, sum);
      dot_bf16(left, right, 16, 16, sum);
      EXPECT_EQ(sum.rows, expected.rows) << "spread " << spread;
    }
  }
}

DFROST_TILE_TARGET void multiply_with_instructions(const Tile* left, const Tile* right, Tile* sum) {
  _tile_loadd(4, left, 64);
  _tile_stream_loadd(6, right, 64);
  _tile_loadd(0, sum, 64);
  _tile_dpbf16ps(0, 4, 6);
  _tile_stored(0, sum, 64);
}

// Where there are tiles this compares the emulator's arithmetic with the hardware's.
TEST(AmxEmulator, AgreesBitForBitWithTheInstructions) {
  const AmxForTest amx;
  RandomStream random(2, "tiles");
  for (const int spread : {0, 10, 60}) {
    const Tile left = random_bf16_tile(random, spread), right = random_bf16_tile(random, spread);
    Tile executed = random_bf16_tile(random, spread), computed = executed;
    {
      const BlockSession session;
      multiply_with_instructions(&left, &right, &executed);
    }
    dot_bf16(left, right, 16, 16, computed);
    EXPECT_EQ(executed.rows, computed.rows);
  }
}

struct alignas(64) RawConfig {
  std::array<std::uint8_t, 64> bytes{};
  // Palette 1 with tile 1 of `rows` × `row_bytes`.
  RawConfig(std::uint8_t rows, std::uint8_t row_bytes) {
    bytes[0] = 1;
    bytes[16 + 2] = row_bytes;
    bytes[48 + 1] = rows;
  }
};

DFROST_TILE_TARGET void copy_through_a_small_tile(const RawConfig* config, RawConfig* config_back,
                                                  const std::uint8_t* from, std::uint8_t* to, long stride) {
  _tile_loadconfig(config);
  _tile_storeconfig(config_back);
  _tile_loadd(1, from, stride);
  _tile_stored(1, to, stride);
  _tile_release();
}

TEST(AmxEmulator, MovesTheConfiguredRowsAndBytesAndNoMore) {
  const AmxForTest amx;
  const RawConfig config(3, 8);
  RawConfig config_back(0, 0);
  std::array<std::uint8_t, 64> from{}, to{}, expected{};
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint8_t>(i + 1);
  copy_through_a_small_tile(&config, &config_back, from.data(), to.data(), 20);
  for (std::size_t r = 0; r < 3; ++r) std::copy_n(&from[20 * r], 8, &expected[20 * r]);
  EXPECT_EQ(to, expected);
  EXPECT_EQ(config.bytes, config_back.bytes);
}

TEST(AmxEmulator, KeepsTheTilesOfThreadsApart) {
  const AmxForTest amx;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([t] {
      RandomStream random(3, "tiles", static_cast<std::uint64_t>(t));
      for (int repeat = 0; repeat < 50; ++repeat) {
        const Tile left = random_bf16_tile(random, 0), right = random_bf16_tile(random, 0);
        Tile executed, computed;
        const BlockSession session;
        multiply_with_instructions(&left, &right, &executed);
        dot_bf16(left, right, 16, 16, computed);
        EXPECT_EQ(executed.rows, computed.rows);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

DFROST_TILE_TARGET void use_tiles_without_configuring_them() { _tile_zero(0); }

TEST(AmxEmulatorDeathTest, LeavesTilesThatAreNotConfiguredIllegal) {
  const AmxForTest amx;
  EXPECT_DEATH(use_tiles_without_configuring_them(), "");
}

sigjmp_buf caught;
void catch_it(int) { siglongjmp(caught, 1); }

TEST(AmxEmulator, HandsOtherIllegalInstructionsToWhoCaughtThemBefore) {
  struct sigaction mine {
  }, before{};
  mine.sa_handler = catch_it;
  ::sigaction(SIGILL, &mine, &before);
  {
    const AmxEmulator emulator;
    volatile bool reached = true;
    if (sigsetjmp(caught, 1) == 0) {
      reached = false;
      __builtin_trap();
    }
    EXPECT_FALSE(reached);
  }
  struct sigaction after {};
  ::sigaction(SIGILL, &before, &after);
  EXPECT_EQ(after.sa_handler, catch_it);
}

}  // namespace
}  // namespace dfrost::test

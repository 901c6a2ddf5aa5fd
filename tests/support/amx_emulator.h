// Runs real AMX tile instructions on a processor without them: each traps as SIGILL, is decoded, done in
// software on the thread's own tiles, and stepped over. So the kernels that ship are the kernels that tests
// run, anywhere. Emulated: LDTILECFG, STTILECFG, TILERELEASE, TILEZERO, TILELOADD, TILELOADDT1, TILESTORED,
// TDPBF16PS, as in Intel's Software Developer's Manual. Anything else, and any use the manual forbids, stays
// an illegal instruction.
// With DFROST_TEST_TILES=emulated in the environment a machine that has tiles does without them too: the
// process never asks the kernel for them, which makes each instruction trap there as well.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/cpu.h"

namespace dfrost::test {

enum class AmxOperation {
  load_config,
  store_config,
  release,
  zero,
  load,
  store,
  dot_bf16,
};

struct AmxInstruction {
  AmxOperation operation{};
  std::size_t length = 0;  // bytes
  // Tile numbers: the destination (or the tile stored), and the two factors of a product.
  int tile = 0, left = 0, right = 0;
  // Memory operand: base + index·scale + displacement; register numbers as the processor encodes them, -1
  // none.
  int base = -1, index = -1;
  int scale = 1;
  std::int32_t displacement = 0;
  bool relative_to_next = false;  // the base is the address of the next instruction
};

// None where the bytes are no instruction of the list above. Reads at most 10 bytes.
std::optional<AmxInstruction> decode_amx(const std::uint8_t* code);

struct alignas(64) Tile {
  std::array<std::array<std::uint8_t, 64>, 16> rows{};
};

// sum [rows, 16] += left [rows, 2·pairs] · right [pairs, 16, 2] in the order and rounding that the manual
// gives.
void dot_bf16(const Tile& left, const Tile& right, std::size_t rows, std::size_t pairs, Tile& sum);

// Catches SIGILL for the whole process while it lives.
class AmxEmulator {
 public:
  AmxEmulator();
  ~AmxEmulator();
  AmxEmulator(const AmxEmulator&) = delete;
  AmxEmulator& operator=(const AmxEmulator&) = delete;
};

// For a test that needs tiles: the machine's own if it has them, else emulated ones.
class AmxForTest {
 public:
  AmxForTest() {
    if (bf16_unit() == Bf16Unit::tiles) return;
    emulator_.emplace();
    pretend_.emplace(Bf16Unit::tiles);
  }

 private:
  std::optional<AmxEmulator> emulator_;
  std::optional<ScopedBf16UnitForTesting> pretend_;
};

// For a test that needs bf16, on whatever multiplies it here, else on emulated tiles.
class Bf16ForTest {
 public:
  Bf16ForTest() {
    if (!bf16_usable()) tiles_.emplace();
  }

 private:
  std::optional<AmxForTest> tiles_;
};

}  // namespace dfrost::test

#include "support/amx_emulator.h"

#include <cpuid.h>
#include <signal.h>
#include <ucontext.h>
#include <xmmintrin.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace dfrost::test {
namespace {

// The operand of LDTILECFG and STTILECFG.
struct TileConfig {
  bool operator==(const TileConfig&) const = default;
  std::uint8_t palette = 0;
  std::uint8_t start_row = 0;
  std::array<std::uint8_t, 14> reserved{};
  std::array<std::uint16_t, 16> row_bytes{};
  std::array<std::uint8_t, 16> rows{};
};
static_assert(sizeof(TileConfig) == 64);

struct TileState {
  TileConfig config;
  std::array<Tile, 8> tiles;
};
thread_local TileState state;

struct sigaction before_emulator;

// Where a processor with tiles has the configuration in a saved register state, or 0 without tiles. The
// kernel refuses tile data to a process that has not asked for it, but not the configuration: the
// instructions that load, store and release it run by themselves there, and only those that touch data come
// here.
std::size_t own_config_offset() {
  constexpr unsigned kAmxTile = 1u << 24;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (edx & kAmxTile) == 0) return 0;
  return __get_cpuid_count(13, 17, &eax, &ebx, &ecx, &edx) == 0 ? 0 : ebx;
}
const std::size_t kOwnConfigOffset = own_config_offset();

// The configuration that the processor had when it met the instruction.
TileConfig own_config(const ucontext_t& context) {
  constexpr std::size_t kHeader = 512;  // of the saved state: bit i says whether component i is in use
  const auto* const saved = reinterpret_cast<const std::uint8_t*>(context.uc_mcontext.fpregs);
  std::uint64_t in_use = 0;
  std::memcpy(&in_use, saved + kHeader, sizeof(in_use));
  TileConfig config;
  if ((in_use >> 17 & 1) != 0) std::memcpy(&config, saved + kOwnConfigOffset, sizeof(config));
  return config;
}

// Sixteen floats; the compiler makes them of whatever registers there are.
using Floats = float __attribute__((vector_size(64)));

// The tile unit treats subnormals as zero, going in and coming out, whatever the program has set.
class FlushSubnormals {
 public:
  FlushSubnormals() : saved_(_mm_getcsr()) {
    _mm_setcsr(0x9fc0);
  }  // FTZ, DAZ, exceptions masked, nearest even
  ~FlushSubnormals() { _mm_setcsr(saved_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  unsigned saved_;
};

// The reading half of decode_amx: ModRM, SIB and displacement of a memory operand. False for what no compiler
// emits here and the tile instructions do not allow.
bool decode_memory(const std::uint8_t* code, std::uint8_t inverted_rxb, AmxInstruction& out) {
  const std::uint8_t modrm = code[4];
  const int mode = modrm >> 6;
  std::size_t at = 5;
  if ((modrm & 7) == 4) {
    const std::uint8_t sib = code[at++];
    out.scale = 1 << (sib >> 6);
    out.index = ((sib >> 3) & 7) | ((inverted_rxb & 0x40) != 0 ? 0 : 8);
    if (out.index == 4) out.index = -1;
    out.base = (sib & 7) | ((inverted_rxb & 0x20) != 0 ? 0 : 8);
    if (mode == 0 && (sib & 7) == 5) out.base = -1;
  } else if (mode == 0 && (modrm & 7) == 5) {
    out.relative_to_next = true;
  } else {
    out.base = (modrm & 7) | ((inverted_rxb & 0x20) != 0 ? 0 : 8);
  }
  if (mode == 1) {
    out.displacement = std::bit_cast<std::int8_t>(code[at]);
    at += 1;
  } else if (mode == 2 || out.relative_to_next || out.base == -1) {
    std::memcpy(&out.displacement, code + at, 4);
    at += 4;
  }
  out.length = at;
  // Tile loads and stores are defined only with a SIB byte.
  const bool needs_sib = out.operation == AmxOperation::load || out.operation == AmxOperation::store;
  return !needs_sib || (modrm & 7) == 4;
}

// The opcode's meaning by its mandatory prefix and by whether it names memory (ModRM mode below 3).
std::optional<AmxOperation> operation_of(std::uint8_t opcode, int prefix, bool memory) {
  enum { kNone, k66, kF3, kF2 };
  if (opcode == 0x49 && memory && prefix == kNone) return AmxOperation::load_config;
  if (opcode == 0x49 && memory && prefix == k66) return AmxOperation::store_config;
  if (opcode == 0x49 && !memory && prefix == kNone) return AmxOperation::release;
  if (opcode == 0x49 && !memory && prefix == kF2) return AmxOperation::zero;
  if (opcode == 0x4b && memory && (prefix == kF2 || prefix == k66)) return AmxOperation::load;
  if (opcode == 0x4b && memory && prefix == kF3) return AmxOperation::store;
  if (opcode == 0x5c && !memory && prefix == kF3) return AmxOperation::dot_bf16;
  return std::nullopt;
}

greg_t register_value(int number, const greg_t* registers) {
  static constexpr std::array<int, 16> kPlace = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                                 REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                                 REG_R12, REG_R13, REG_R14, REG_R15};
  return number < 0 ? 0 : registers[kPlace[static_cast<std::size_t>(number)]];
}

// Base and displacement; in tile loads and stores the index register is the distance between rows instead.
std::uint8_t* address_of(const AmxInstruction& instruction, const greg_t* registers) {
  greg_t address = register_value(instruction.base, registers) + instruction.displacement;
  if (instruction.relative_to_next) address += registers[REG_RIP] + static_cast<greg_t>(instruction.length);
  return reinterpret_cast<std::uint8_t*>(address);
}

greg_t index_of(const AmxInstruction& instruction, const greg_t* registers) {
  return register_value(instruction.index, registers) * instruction.scale;
}

bool is_valid(const TileConfig& config) {
  if (config.palette == 0) return true;  // the same as TILERELEASE
  if (config.palette != 1 || config.start_row != 0) return false;
  for (std::size_t t = 0; t < 16; ++t) {
    const bool exists = t < 8;
    if (config.rows[t] > (exists ? 16 : 0) || config.row_bytes[t] > (exists ? 64 : 0)) return false;
    if ((config.rows[t] == 0) != (config.row_bytes[t] == 0)) return false;
  }
  return std::ranges::all_of(config.reserved, [](std::uint8_t byte) { return byte == 0; });
}

bool load_config(const std::uint8_t* from) {
  TileConfig config;
  std::memcpy(&config, from, sizeof(config));
  if (!is_valid(config)) return false;
  state = TileState{};
  if (config.palette != 0) state.config = config;
  return true;
}

bool is_configured(int tile) {
  return state.config.palette == 1 && state.config.rows[static_cast<std::size_t>(tile)] > 0;
}

void load_tile(std::size_t tile, const std::uint8_t* from, greg_t stride) {
  state.tiles[tile] = Tile{};  // what lies beyond the configured rows and columns reads as zero
  for (std::size_t r = 0; r < state.config.rows[tile]; ++r) {
    std::memcpy(state.tiles[tile].rows[r].data(), from + static_cast<greg_t>(r) * stride,
                state.config.row_bytes[tile]);
  }
}

void store_tile(std::size_t tile, std::uint8_t* to, greg_t stride) {
  for (std::size_t r = 0; r < state.config.rows[tile]; ++r) {
    std::memcpy(to + static_cast<greg_t>(r) * stride, state.tiles[tile].rows[r].data(),
                state.config.row_bytes[tile]);
  }
}

bool multiply_tiles(const AmxInstruction& instruction) {
  const auto [sum, left, right] =
      std::array{static_cast<std::size_t>(instruction.tile), static_cast<std::size_t>(instruction.left),
                 static_cast<std::size_t>(instruction.right)};
  if (sum == left || sum == right || left == right) return false;
  if (!is_configured(instruction.left) || !is_configured(instruction.right)) return false;
  const TileConfig& config = state.config;
  const std::size_t pairs = config.row_bytes[left] / 4u;
  if (config.row_bytes[left] % 4 != 0 || config.row_bytes[sum] % 4 != 0) return false;
  if (config.rows[left] != config.rows[sum] || config.rows[right] != pairs) return false;
  if (config.row_bytes[right] != config.row_bytes[sum]) return false;
  dot_bf16(state.tiles[left], state.tiles[right], config.rows[sum], pairs, state.tiles[sum]);
  return true;
}

// False for what the processor would refuse too.
bool execute(const AmxInstruction& instruction, const greg_t* registers) {
  std::uint8_t* const address = address_of(instruction, registers);
  const greg_t index = index_of(instruction, registers);
  const auto tile = static_cast<std::size_t>(instruction.tile);
  switch (instruction.operation) {
    case AmxOperation::load_config: return load_config(address + index);
    case AmxOperation::store_config:
      std::memcpy(address + index, &state.config, sizeof(TileConfig));
      return true;
    case AmxOperation::release: state = TileState{}; return true;
    default: break;
  }
  if (!is_configured(instruction.tile)) return false;
  switch (instruction.operation) {
    case AmxOperation::zero: state.tiles[tile] = Tile{}; return true;
    case AmxOperation::load: load_tile(tile, address, index); return true;
    case AmxOperation::store: store_tile(tile, address, index); return true;
    case AmxOperation::dot_bf16: return multiply_tiles(instruction);
    default: return false;
  }
}

bool is_about_configuration(AmxOperation operation) {
  return operation == AmxOperation::load_config || operation == AmxOperation::store_config ||
         operation == AmxOperation::release;
}

// Does the instruction at the program counter and steps over it.
bool step(greg_t* registers) {
  const auto instruction = decode_amx(reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]));
  if (!instruction) return false;
  if (kOwnConfigOffset != 0 && is_about_configuration(instruction->operation)) return false;
  if (!execute(*instruction, registers)) return false;
  registers[REG_RIP] += static_cast<greg_t>(instruction->length);
  return true;
}

void on_illegal_instruction(int signal, siginfo_t* info, void* context) {
  auto& interrupted = *static_cast<ucontext_t*>(context);
  greg_t* const registers = interrupted.uc_mcontext.gregs;
  if (kOwnConfigOffset != 0) {
    const TileConfig config = own_config(interrupted);
    if (config != state.config) state = {config, {}};
  }
  if (step(registers)) {
    // A signal costs more than the work: do what follows while we are here.
    while (step(registers)) continue;
  } else if ((before_emulator.sa_flags & SA_SIGINFO) != 0) {
    before_emulator.sa_sigaction(signal, info, context);
  } else if (before_emulator.sa_handler != SIG_DFL && before_emulator.sa_handler != SIG_IGN) {
    before_emulator.sa_handler(signal);
  } else {
    ::signal(SIGILL, SIG_DFL);  // the instruction runs again, and ends the process as it should
  }
}

}  // namespace

std::optional<AmxInstruction> decode_amx(const std::uint8_t* code) {
  // Three-byte VEX, opcode map 0F38, W0, L0. Its R, X and B bits are stored inverted.
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2 || (code[2] & 0x84) != 0) return std::nullopt;
  const std::uint8_t modrm = code[4];
  const bool memory = modrm < 0xc0;
  const auto operation = operation_of(code[3], code[2] & 3, memory);
  if (!operation) return std::nullopt;
  AmxInstruction result{.operation = *operation, .length = 5};
  result.tile = (modrm >> 3) & 7;
  const int third = (~code[2] >> 3) & 15;
  if (*operation == AmxOperation::dot_bf16) {
    result.left = modrm & 7;
    result.right = third;
    return third < 8 ? std::optional(result) : std::nullopt;
  }
  if (third != 0) return std::nullopt;
  if (memory && !decode_memory(code, code[1], result)) return std::nullopt;
  const bool names_a_tile = *operation == AmxOperation::zero || *operation == AmxOperation::load ||
                            *operation == AmxOperation::store;
  return names_a_tile || result.tile == 0 ? std::optional(result) : std::nullopt;
}

void dot_bf16(const Tile& left, const Tile& right, std::size_t rows, std::size_t pairs, Tile& sum) {
  const FlushSubnormals flush;
  const auto widen = [](const std::uint8_t* bytes) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes, 2);
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  };
  std::array<Floats, 16> even{}, odd{};
  for (std::size_t k = 0; k < pairs; ++k) {
    for (std::size_t n = 0; n < 16; ++n) {
      even[k][n] = widen(&right.rows[k][4 * n]);
      odd[k][n] = widen(&right.rows[k][4 * n + 2]);
    }
  }
  for (std::size_t m = 0; m < rows; ++m) {
    // A product of two bf16 numbers is exact in fp32, so multiplying and adding is the manual's fused
    // operation.
    Floats even_sum{}, odd_sum{};
    for (std::size_t k = 0; k < pairs; ++k) {
      even_sum += widen(&left.rows[m][4 * k]) * even[k];
      odd_sum += widen(&left.rows[m][4 * k + 2]) * odd[k];
    }
    Floats total;
    std::memcpy(&total, sum.rows[m].data(), sizeof(total));
    total += even_sum + odd_sum;
    std::memcpy(sum.rows[m].data(), &total, sizeof(total));
  }
}

AmxEmulator::AmxEmulator() {
  struct sigaction emulate {};
  emulate.sa_sigaction = on_illegal_instruction;
  emulate.sa_flags = SA_SIGINFO;
  sigemptyset(&emulate.sa_mask);
  ::sigaction(SIGILL, &emulate, &before_emulator);
}

AmxEmulator::~AmxEmulator() { ::sigaction(SIGILL, &before_emulator, nullptr); }

namespace {

// For the whole process, before anything asks the kernel for the machine's own tiles.
struct Everywhere {
  AmxEmulator emulator;
  ScopedBf16UnitForTesting pretend{Bf16Unit::tiles};
};
const std::unique_ptr<Everywhere> everywhere = [] {
  const char* const wanted = std::getenv("DFROST_TEST_TILES");
  return wanted != nullptr && std::string_view(wanted) == "emulated" ? std::make_unique<Everywhere>()
                                                                     : nullptr;
}();

}  // namespace

}  // namespace dfrost::test

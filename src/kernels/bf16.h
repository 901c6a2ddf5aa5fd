// bf16: the upper half of a float, 8 bits of exponent and 8 of significand. Only a storage form: arithmetic
// is done in fp32 (by the tiles, or after widening). Conversion rounds to nearest, ties to even; a NaN stays
// a NaN.
#pragma once

#include <bit>
#include <cstdint>

namespace dfrost {

struct Bf16 {
  std::uint16_t bits;
  friend bool operator==(Bf16, Bf16) = default;
};

inline Bf16 to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  // Rounding could carry a NaN's payload into infinity; cutting it off and setting the quiet bit cannot.
  if (x != x) return {static_cast<std::uint16_t>((bits | 0x00400000u) >> 16)};
  return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

inline float to_float(Bf16 x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16); }

// Whether the processor has an instruction for it.
inline const bool kCpuRoundsToBf16 = (__builtin_cpu_init(), __builtin_cpu_supports("avx512bf16") != 0);

}  // namespace dfrost

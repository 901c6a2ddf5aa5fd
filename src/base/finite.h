// Whether numbers are numbers: what diverged, was damaged or was sent on purpose must not reach a sum.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace dfrost {

// Neither an infinity nor a NaN among them. Without an early end and in integers, so that the compiler turns
// it into vectors and it runs as fast as memory; with std::isfinite it does not.
inline bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7f800000u;
  std::uint32_t bad = 0;
  for (const float value : values)
    bad |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent);
  return bad == 0;
}

}  // namespace dfrost

// A 64-bit hash of content, to tell a damaged or another file from the right one: against accidents, not
// against forgery. Eight bytes at a time, so that hashing a checkpoint costs less than reading it. The same
// on every little-endian machine.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

namespace dfrost {

class ContentHash {
 public:
  // Each piece is hashed with its length: "ab", "c" differs from "a", "bc".
  void add(std::span<const std::byte> bytes) {
    std::size_t at = 0;
    for (; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      mix(word);
    }
    std::uint64_t rest = 0;
    if (at < bytes.size()) std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
    mix(rest);
    mix(bytes.size());
  }

  template <typename T, std::size_t N>
  requires std::is_trivially_copyable_v<T>
  void add(std::span<T, N> values) { add(std::span<const std::byte>(std::as_bytes(values))); }

  std::uint64_t value() const { return state_; }
  // 16 digits.
  std::string hex() const { return fmt::format("{:016x}", state_); }

 private:
  void mix(std::uint64_t word) {
    // FNV's prime; the shift brings the high bits, which a product never carries down, back to the low ones.
    state_ = (state_ ^ word) * 0x100000001b3u;
    state_ ^= state_ >> 29;
  }

  std::uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace dfrost

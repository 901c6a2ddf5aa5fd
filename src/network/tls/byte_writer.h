// Puts little-endian numbers and runs of bytes one after another, and takes them off again: the taker says at
// the end whether there was enough, instead of throwing, because what it reads is a stranger's.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dfrost {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

class ByteWriter {
 public:
  template <std::integral T>
  ByteWriter& number(T value) {
    return bytes(std::as_bytes(std::span(&value, 1)));
  }
  ByteWriter& bytes(std::span<const std::byte> some) {
    bytes_.insert(bytes_.end(), some.begin(), some.end());
    return *this;
  }
  // Length (u16) and letters, of which at most so many.
  ByteWriter& text(std::string_view letters, std::size_t most) {
    letters = letters.substr(0, most);
    number(static_cast<std::uint16_t>(letters.size()));
    return bytes(std::as_bytes(std::span(letters)));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class ByteTaker {
 public:
  explicit ByteTaker(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool enough() const { return enough_; }
  std::size_t left() const { return bytes_.size(); }

  // 0 where there is not enough.
  template <std::integral T>
  T number() {
    T value{};
    bytes(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  void bytes(std::span<std::byte> into) {
    if (into.size() > bytes_.size()) enough_ = false;
    if (!enough_) return;
    std::memcpy(into.data(), bytes_.data(), into.size());
    bytes_ = bytes_.subspan(into.size());
  }
  std::string text(std::size_t most) {
    const std::size_t length = number<std::uint16_t>();
    if (length > most || length > bytes_.size()) enough_ = false;
    if (!enough_) return {};
    std::string letters(reinterpret_cast<const char*>(bytes_.data()), length);
    bytes_ = bytes_.subspan(length);
    return letters;
  }

 private:
  std::span<const std::byte> bytes_;
  bool enough_ = true;
};

}  // namespace dfrost

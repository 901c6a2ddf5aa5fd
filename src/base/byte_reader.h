// Takes little-endian numbers and runs of bytes from the front of a buffer; running out of bytes is an Error
// (data_loss) that says what was being read, never a read past the end.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "dfrost/error.h"

namespace dfrost {

class ByteReader {
 public:
  // `what` is read: "the zip directory".
  ByteReader(std::span<const std::byte> bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }

  std::span<const std::byte> take(std::size_t count) {
    if (count > remaining()) {
      throw Error(ErrorCode::data_loss,
                  fmt::format("{} is truncated: {} bytes expected at byte {}, {} are left", what_, count,
                              position_, remaining()));
    }
    position_ += count;
    return bytes_.subspan(position_ - count, count);
  }

  template <std::integral T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  std::string_view text(std::size_t count) {
    const auto taken = take(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  // Up to the next newline, which is taken but not part of it.
  std::string_view line() {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + position_, remaining());
    const auto length = rest.find('\n');
    if (length == std::string_view::npos) take(remaining() + 1);
    take(length + 1);
    return rest.substr(0, length);
  }

 private:
  std::span<const std::byte> bytes_;
  std::string_view what_;
  std::size_t position_ = 0;
};

}  // namespace dfrost

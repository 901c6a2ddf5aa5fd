// Values between ranks of one job as bytes and back, both ways from one description. All ranks run the same
// executable on the same kind of machine, as they have found out before: numbers travel as they lie in
// memory. A type that is more than that says what it is made of by pack_fields(), for both ways at once; a
// new field of it does not compile until it is packed too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dfrost/error.h"
#include "network/mpi/communicator.h"

namespace dfrost {

template <typename T>
inline constexpr bool kIsPlain = std::is_trivially_copyable_v<T>;
// Texts count as lists of letters.
template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <>
inline constexpr bool kIsList<std::string> = true;
template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

class Packer {
 public:
  template <typename... T>
  void operator()(T&... values) {
    (add(values), ...);
  }
  Bytes take() { return std::move(bytes_); }

 private:
  template <typename T>
  void add(T& value) {
    if constexpr (kIsPlain<T>) {
      append(std::as_bytes(std::span(&value, 1)));
    } else if constexpr (kIsList<T>) {
      add_size(value.size());
      if constexpr (kIsPlain<typename T::value_type>)
        append(std::as_bytes(std::span(value)));
      else
        for (auto& one : value) add(one);
    } else if constexpr (kIsOptional<T>) {
      add_size(value ? 1 : 0);
      if (value) add(*value);
    } else {
      pack_fields(*this, value);
    }
  }

  void add_size(std::uint64_t size) { append(std::as_bytes(std::span(&size, 1))); }
  void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

  Bytes bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename... T>
  void operator()(T&... values) {
    (take(values), ...);
  }

 private:
  template <typename T>
  void take(T& value) {
    if constexpr (kIsPlain<T>) {
      copy(std::as_writable_bytes(std::span(&value, 1)));
    } else if constexpr (kIsList<T>) {
      using Item = typename T::value_type;
      value.resize(take_size(kIsPlain<Item> ? sizeof(Item) : 1));
      if constexpr (kIsPlain<Item>)
        copy(std::as_writable_bytes(std::span(value)));
      else
        for (auto& one : value) take(one);
    } else if constexpr (kIsOptional<T>) {
      value.reset();
      if (take_size(0) != 0) take(value.emplace());
    } else {
      pack_fields(*this, value);
    }
  }

  // Of so many things, each of at least so many bytes.
  std::size_t take_size(std::size_t least_bytes) {
    std::uint64_t size = 0;
    copy(std::as_writable_bytes(std::span(&size, 1)));
    if (size * least_bytes > rest_.size()) refuse();
    return size;
  }
  void copy(std::span<std::byte> into) {
    if (into.size() > rest_.size()) refuse();
    if (!into.empty()) std::memcpy(into.data(), rest_.data(), into.size());
    rest_ = rest_.subspan(into.size());
  }
  [[noreturn]] static void refuse() {
    throw Error(ErrorCode::internal, "a rank sent less than it had to say");
  }

  std::span<const std::byte> rest_;
};

template <typename T>
Bytes pack(T& value) {
  Packer packer;
  packer(value);
  return packer.take();
}

template <typename T>
T unpack(std::span<const std::byte> bytes) {
  T value{};
  Unpacker unpacker(bytes);
  unpacker(value);
  return value;
}

}  // namespace dfrost

// A tensor whose bytes somebody else owns (a mapped file, a message): type, shape, row-major little-endian
// data at any alignment; and its values as fp32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dfrost {

enum class TensorType {
  boolean,
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f8_e4m3,
  f8_e5m2,
  f16,
  bf16,
  f32,
  f64
};

// The names that safetensors uses: "F32", "BF16", "I64".
std::string_view to_string(TensorType type);
std::optional<TensorType> tensor_type_named(std::string_view name);
std::size_t size_of(TensorType type);

using Shape = std::vector<std::size_t>;
std::string to_string(const Shape& shape);  // "[2, 3]"

// The number of elements; nothing when it does not fit in 64 bits.
std::optional<std::size_t> element_count(const Shape& shape);

struct TensorView {
  TensorType type = TensorType::f32;
  Shape shape;
  std::span<const std::byte> bytes;  // exactly the elements

  std::size_t elements() const { return bytes.size() / size_of(type); }
};

// The values as fp32, from F32, F16, BF16 (exactly) or F64 (rounded). Any other type is an Error that calls
// the tensor by `name`. The span must have the tensor's number of elements.
void read_floats(const TensorView& tensor, std::string_view name, std::span<float> values);
std::vector<float> read_floats(const TensorView& tensor, std::string_view name);

}  // namespace dfrost

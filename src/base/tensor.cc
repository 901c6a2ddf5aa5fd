#include "base/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include "base/quote.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are little-endian on disk and here");

struct TypeRow {
  TensorType type;
  std::string_view name;
  std::size_t size;
};

constexpr std::array kTypes = {
    TypeRow{TensorType::boolean, "BOOL", 1},    TypeRow{TensorType::u8, "U8", 1},
    TypeRow{TensorType::i8, "I8", 1},           TypeRow{TensorType::u16, "U16", 2},
    TypeRow{TensorType::i16, "I16", 2},         TypeRow{TensorType::u32, "U32", 4},
    TypeRow{TensorType::i32, "I32", 4},         TypeRow{TensorType::u64, "U64", 8},
    TypeRow{TensorType::i64, "I64", 8},         TypeRow{TensorType::f8_e4m3, "F8_E4M3", 1},
    TypeRow{TensorType::f8_e5m2, "F8_E5M2", 1}, TypeRow{TensorType::f16, "F16", 2},
    TypeRow{TensorType::bf16, "BF16", 2},       TypeRow{TensorType::f32, "F32", 4},
    TypeRow{TensorType::f64, "F64", 8},
};

constexpr bool rows_stand_in_the_order_of_the_enumeration() {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (static_cast<std::size_t>(kTypes[i].type) != i) return false;
  }
  return true;
}
static_assert(rows_stand_in_the_order_of_the_enumeration());

const TypeRow& row_of(TensorType type) { return kTypes[static_cast<std::size_t>(type)]; }

// All bits set where the condition holds: a choice that vectors can make too.
constexpr std::uint32_t mask_if(bool condition) { return 0u - static_cast<std::uint32_t>(condition); }

// Without branches, so that the compiler turns a loop over it into vectors.
constexpr float float_of_half(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t magnitude = bits & 0x7fffu;
  // Subnormals and zero are whole multiples of 2^-24.
  const float small = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1.0p-24f;
  // The others are rebiased from 15 to 127; infinity and NaN once more, to an all-ones exponent.
  constexpr std::uint32_t kRebias = (127u - 15u) << 23;
  const std::uint32_t normal = (magnitude << 13) + kRebias + (mask_if(magnitude >= 0x7c00u) & kRebias);
  const std::uint32_t is_small = mask_if(magnitude < 0x0400u);
  return std::bit_cast<float>(sign | (std::bit_cast<std::uint32_t>(small) & is_small) | (normal & ~is_small));
}

constexpr float float_of_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// Element by element through memcpy, since the data may stand at any address.
template <typename Stored, typename Convert>
void convert(std::span<const std::byte> bytes, std::span<float> values, Convert to_float) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = to_float(stored);
  }
}

}  // namespace

std::string_view to_string(TensorType type) { return row_of(type).name; }

std::optional<TensorType> tensor_type_named(std::string_view name) {
  for (const auto& row : kTypes) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

std::size_t size_of(TensorType type) { return row_of(type).size; }

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::optional<std::size_t> element_count(const Shape& shape) {
  std::size_t count = 1;
  for (const std::size_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count)) return std::nullopt;
  }
  return count;
}

void read_floats(const TensorView& tensor, std::string_view name, std::span<float> values) {
  assert(values.size() == tensor.elements());
  switch (tensor.type) {
    case TensorType::f32:
      if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
      return;
    case TensorType::f16:
      return convert<std::uint16_t>(tensor.bytes, values, [](std::uint16_t x) { return float_of_half(x); });
    case TensorType::bf16:
      return convert<std::uint16_t>(tensor.bytes, values,
                                    [](std::uint16_t x) { return float_of_bfloat16(x); });
    case TensorType::f64:
      return convert<double>(tensor.bytes, values, [](double x) { return static_cast<float>(x); });
    default:
      throw Error(ErrorCode::unimplemented,
                  fmt::format("tensor {} holds {} values, expected F32, F16, BF16 or F64", quote_name(name),
                              to_string(tensor.type)));
  }
}

std::vector<float> read_floats(const TensorView& tensor, std::string_view name) {
  std::vector<float> values(tensor.elements());
  read_floats(tensor, name, values);
  return values;
}

}  // namespace dfrost

#include "data/mat_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "data/bad_file.h"
#include "data/inflate.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr std::size_t kFileHeader = 128;
constexpr std::size_t kMaxDimensions = 8;

// Data types of elements, and the array classes that may hold bytes.
enum MatType : std::uint32_t {
  kInt8 = 1,
  kUint8 = 2,
  kInt16 = 3,
  kUint16 = 4,
  kInt32 = 5,
  kUint32 = 6,
  kDouble = 9,
  kMatrix = 14,
  kCompressed = 15,
};
constexpr std::uint8_t kDoubleClass = 6;
constexpr std::uint8_t kUint8Class = 9;

// A position in bytes that knows its file, for errors. Offsets inside a compressed variable count its
// inflated bytes, and the place says so.
class MatReader {
 public:
  MatReader(std::span<const std::byte> bytes, std::string place, std::size_t origin = 0)
      : bytes_(bytes), place_(std::move(place)), origin_(origin) {}

  bool done() const { return at_ == bytes_.size(); }
  const std::string& place() const { return place_; }

  Error error(const std::string& what) const { return bad_file(place_, offset(), what); }

  template <typename T>
  T take() {
    T value{};
    const auto from = take_bytes(sizeof(T));
    std::memcpy(&value, from.data(), sizeof(T));
    return value;
  }

  std::span<const std::byte> take_bytes(std::size_t count) {
    if (count > bytes_.size() - at_) {
      throw error(fmt::format("ends too early: {} bytes wanted, {} left", count, bytes_.size() - at_));
    }
    const auto taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }

  std::size_t offset() const { return origin_ + at_; }

 private:
  std::span<const std::byte> bytes_;
  std::string place_;
  std::size_t origin_;
  std::size_t at_ = 0;
};

struct Element {
  std::uint32_t type = 0;
  std::span<const std::byte> data;
  std::size_t offset = 0;  // of the data
};

// An element is a tag (type, size) and data padded to 8 bytes; a small one keeps both halves in 8 bytes.
// Compressed elements, and only they, are not padded.
Element take_element(MatReader& reader) {
  const auto tag = reader.take<std::uint32_t>();
  Element element;
  std::size_t padding = 0;
  std::size_t size = 0;
  if ((tag >> 16) != 0) {
    element.type = tag & 0xffff;
    size = tag >> 16;
    if (size > 4) throw reader.error(fmt::format("a small element claims {} bytes", size));
    padding = 4 - size;
  } else {
    element.type = tag;
    size = reader.take<std::uint32_t>();
    if (element.type != kCompressed) padding = (8 - size % 8) % 8;
  }
  element.offset = reader.offset();
  element.data = reader.take_bytes(size);
  if (!reader.done()) reader.take_bytes(padding);  // some writers leave out the padding of the last element
  return element;
}

std::size_t bytes_per_value(const MatReader& reader, std::uint32_t type) {
  switch (type) {
    case kInt8:
    case kUint8: return 1;
    case kInt16:
    case kUint16: return 2;
    case kInt32:
    case kUint32: return 4;
    case kDouble: return 8;
    default: throw reader.error(fmt::format("numbers of MATLAB type {} are not supported", type));
  }
}

// One stored number as a byte, if it is one.
bool to_byte(const std::byte* from, std::uint32_t type, std::uint8_t& byte) {
  const auto load = [from]<typename T>(T value) {
    std::memcpy(&value, from, sizeof value);
    return static_cast<double>(value);
  };
  double value = 0;
  switch (type) {
    case kInt8: value = load(std::int8_t{}); break;
    case kUint8: value = load(std::uint8_t{}); break;
    case kInt16: value = load(std::int16_t{}); break;
    case kUint16: value = load(std::uint16_t{}); break;
    case kInt32: value = load(std::int32_t{}); break;
    case kUint32: value = load(std::uint32_t{}); break;
    default: value = load(double{}); break;
  }
  if (!(value >= 0 && value <= 255)) return false;  // a NaN too
  byte = static_cast<std::uint8_t>(value);
  return byte == value;
}

// Over the numbers themselves, or a copy: `inflated` is what they stand in, where it is ours to change.
std::vector<std::uint8_t> to_bytes(const MatReader& reader, const Element& element,
                                   std::vector<std::uint8_t>* inflated) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(element.data.data());
  if (element.type == kUint8 && inflated != nullptr) {
    std::vector<std::uint8_t> values = std::move(*inflated);
    const std::size_t size = element.data.size();
    std::memmove(values.data(), first, size);
    values.resize(size);
    return values;
  }
  if (element.type == kUint8) return {first, first + element.data.size()};
  const std::size_t width = bytes_per_value(reader, element.type);
  std::vector<std::uint8_t> values(element.data.size() / width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!to_byte(element.data.data() + i * width, element.type, values[i])) {
      throw bad_file(reader.place(), element.offset + i * width,
                     fmt::format("value {} is not a whole number from 0 to 255", i));
    }
  }
  return values;
}

std::vector<std::size_t> take_dimensions(MatReader& reader) {
  const Element element = take_element(reader);
  const std::size_t count = element.data.size() / 4;
  if (element.type != kInt32 || count < 2 || count > kMaxDimensions) {
    throw reader.error("has a variable without proper dimensions");
  }
  std::vector<std::size_t> dimensions(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::int32_t value = 0;
    std::memcpy(&value, element.data.data() + 4 * i, 4);
    if (value < 0) throw reader.error(fmt::format("has a variable with dimension {}", value));
    dimensions[i] = static_cast<std::size_t>(value);
  }
  return dimensions;
}

// The parts of a matrix before its numbers: flags, dimensions, name.
struct MatrixHeader {
  std::string name;
  std::vector<std::size_t> dimensions;
  std::size_t bytes = 0;  // of the whole variable, as its tag says; only of one that is compressed
};

// Nothing where it is an array of another class.
std::optional<MatrixHeader> take_matrix_header(MatReader& reader) {
  const Element flags = take_element(reader);
  if (flags.type != kUint32 || flags.data.size() != 8)
    throw reader.error("has a variable without array flags");
  const auto array_class = std::to_integer<std::uint8_t>(flags.data[0]);
  if (array_class != kUint8Class && array_class != kDoubleClass) return std::nullopt;
  MatrixHeader header;
  header.dimensions = take_dimensions(reader);
  const Element name = take_element(reader);
  header.name.assign(reinterpret_cast<const char*>(name.data.data()), name.data.size());
  return header;
}

MatArray take_numbers(MatReader& reader, MatrixHeader header, std::vector<std::uint8_t>* inflated) {
  const Element numbers = take_element(reader);
  const std::size_t stored = numbers.data.size() / bytes_per_value(reader, numbers.type);
  // Multiplied with a ceiling, so that hostile dimensions cannot wrap around.
  std::size_t expected = 1;
  for (const std::size_t d : header.dimensions)
    expected = d == 0 ? 0 : expected > stored / d ? stored + 1 : expected * d;
  if (expected != stored) {
    throw reader.error(
        fmt::format("has {} numbers for an array of {}", stored, fmt::join(header.dimensions, "×")));
  }
  return {std::move(header.dimensions), to_bytes(reader, numbers, inflated)};
}

// A compressed variable's name and dimensions, from as few of its bytes as hold them.
std::optional<MatrixHeader> peek_matrix_header(std::span<const std::byte> compressed,
                                               const std::string& place) {
  constexpr std::size_t kPeekBytes = 1024;
  const auto start = inflate_start(compressed, kPeekBytes);
  constexpr std::size_t kTagBytes = 8;
  std::array<std::uint32_t, 2> tag = {};  // type, size
  if (start.size() > kTagBytes) std::memcpy(tag.data(), start.data(), kTagBytes);
  if (tag[0] != kMatrix) return std::nullopt;
  MatReader matrix(std::as_bytes(std::span(start)).subspan(kTagBytes), place);
  auto header = take_matrix_header(matrix);
  if (header) header->bytes = kTagBytes + tag[1];
  return header;
}

std::string inside_variable(const std::string& place, const Element& element) {
  return fmt::format("{} (inside the variable compressed at byte {})", place, element.offset);
}

void check_file_header(MatReader& reader) {
  const auto header = reader.take_bytes(kFileHeader);
  const auto at = [&](std::size_t i) { return std::to_integer<char>(header[i]); };
  if (at(126) == 'M' && at(127) == 'I') {
    throw Error(ErrorCode::unimplemented, fmt::format("{}: is a big-endian MAT-file", reader.place()))
        .at(fmt::format("{}, byte 126", reader.place()));
  }
  if (at(126) != 'I' || at(127) != 'M') {
    throw Error(ErrorCode::data_loss, fmt::format("{}: is not a level 5 MAT-file", reader.place()),
                "a file saved with -v7.3 is HDF5: save it again with -v7")
        .at(fmt::format("{}, byte 126", reader.place()));
  }
}

}  // namespace

std::map<std::string, MatArray> parse_mat(std::span<const std::byte> bytes, const std::string& place,
                                          const std::set<std::string>& wanted) {
  MatReader file(bytes, place);
  check_file_header(file);
  std::map<std::string, MatArray> arrays;
  const auto is_wanted = [&](const std::optional<MatrixHeader>& header, const Element& element) {
    if (!header || !wanted.contains(header->name)) return false;
    // Otherwise a file could have us inflate the same name a thousand times.
    if (arrays.contains(header->name))
      throw bad_file(place, element.offset, fmt::format("has two variables {}", header->name));
    return true;
  };
  while (!file.done()) {
    const Element element = take_element(file);
    if (element.type == kMatrix) {
      MatReader matrix(element.data, place, element.offset);
      auto header = take_matrix_header(matrix);
      if (!is_wanted(header, element)) continue;
      const std::string name = header->name;
      arrays[name] = take_numbers(matrix, std::move(*header), nullptr);
    } else if (element.type == kCompressed) {
      const std::string inside = inside_variable(place, element);
      auto header = peek_matrix_header(element.data, inside);
      if (!is_wanted(header, element)) continue;
      auto inflated = inflate_bytes(element.data, inside, header->bytes);
      MatReader outer(std::as_bytes(std::span(inflated)), inside);
      const Element inner = take_element(outer);
      MatReader matrix(inner.data, inside, inner.offset);
      header = take_matrix_header(matrix);
      if (!header) continue;
      const std::string name = header->name;
      arrays[name] = take_numbers(matrix, std::move(*header), &inflated);
    }
  }
  return arrays;
}

std::vector<std::size_t> mat_dimensions(std::span<const std::byte> bytes, const std::string& place,
                                        const std::string& name) {
  MatReader file(bytes, place);
  check_file_header(file);
  while (!file.done()) {
    const Element element = take_element(file);
    std::optional<MatrixHeader> header;
    if (element.type == kMatrix) {
      MatReader matrix(element.data, place, element.offset);
      header = take_matrix_header(matrix);
    } else if (element.type == kCompressed) {
      header = peek_matrix_header(element.data, inside_variable(place, element));
    }
    if (header && header->name == name) return header->dimensions;
  }
  return {};
}

}  // namespace dfrost

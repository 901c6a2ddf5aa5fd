#include "data/orientation.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace dfrost {
namespace {

constexpr std::uint32_t kOrientationTag = 0x0112;
constexpr std::size_t kEntryBytes = 12;
constexpr std::size_t kPngSignature = 8;
constexpr std::size_t kPngChunkFrame = 12;  // length, kind, checksum

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size, bool big_endian) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t byte = big_endian ? i : size - 1 - i;
    value = value << 8 | std::to_integer<std::uint32_t>(bytes[at + byte]);
  }
  return value;
}

bool begins(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

// The bytes of one number of a TIFF type; 0 for what is no whole number.
std::size_t whole_number_bytes(std::uint32_t type) {
  switch (type) {
    case 6: return 1;  // signed, as are 8 and 9: what is negative is no orientation either way
    case 3:
    case 8: return 2;
    case 4:
    case 9:
    case 13: return 4;
    default: return 0;
  }
}

// The first number of the entry at a place of the directory, 0 where it has none. Of several, four bytes at
// most stand in the entry itself.
std::uint32_t entry_value(std::span<const std::byte> exif, std::size_t entry, bool big_endian) {
  const std::size_t size = whole_number_bytes(number_at(exif, entry + 2, 2, big_endian));
  const std::size_t bytes = size * number_at(exif, entry + 4, 4, big_endian);
  if (bytes == 0) return 0;
  if (bytes <= 4) return number_at(exif, entry + 8, size, big_endian);
  const std::size_t at = number_at(exif, entry + 8, 4, big_endian);
  return at > exif.size() || exif.size() - at < bytes ? 0 : number_at(exif, at, size, big_endian);
}

}  // namespace

int exif_orientation(std::span<const std::byte> exif) {
  using namespace std::string_view_literals;
  if (begins(exif, "Exif\0\0"sv)) exif = exif.subspan(6);
  const bool big_endian = begins(exif, "MM\0*"sv);
  if (exif.size() < 8 || (!big_endian && !begins(exif, "II*\0"sv))) return kUpright;
  std::size_t at = number_at(exif, 4, 4, big_endian);
  if (at > exif.size() || exif.size() - at < 2) return kUpright;
  std::size_t entries = number_at(exif, at, 2, big_endian);
  std::uint32_t found = kUpright;
  // The last one counts, as it does in Pillow; a directory that is cut short counts as far as it goes.
  for (at += 2; entries > 0 && exif.size() - at >= kEntryBytes; --entries, at += kEntryBytes) {
    if (number_at(exif, at, 2, big_endian) == kOrientationTag) found = entry_value(exif, at, big_endian);
  }
  return found >= 1 && found <= 8 ? static_cast<int>(found) : kUpright;
}

int png_orientation(std::span<const std::byte> file) {
  int found = kUpright;
  for (std::size_t at = kPngSignature; file.size() >= at + kPngChunkFrame;) {
    const std::size_t length = number_at(file, at, 4, true);
    if (length > file.size() - at - kPngChunkFrame) break;
    const auto kind_and_data = file.subspan(at + 4, 4 + length);
    if (begins(kind_and_data, "eXIf")) {
      const auto* first = reinterpret_cast<const Bytef*>(kind_and_data.data());
      if (crc32(0, first, static_cast<uInt>(kind_and_data.size())) ==
          number_at(file, at + 8 + length, 4, true)) {
        found = exif_orientation(kind_and_data.subspan(4));
      }
    }
    at += length + kPngChunkFrame;
  }
  return found;
}

StoredRows::StoredRows(Image& upright, int orientation)
    : width_(swaps_sides(orientation) ? upright.height : upright.width),
      height_(swaps_sides(orientation) ? upright.width : upright.height) {
  // The place of stored pixel (x, y), which is linear in both.
  const auto place = [&](std::ptrdiff_t x, std::ptrdiff_t y) {
    const std::ptrdiff_t right = static_cast<std::ptrdiff_t>(width_) - 1 - x;
    const std::ptrdiff_t below = static_cast<std::ptrdiff_t>(height_) - 1 - y;
    const auto at = [&](std::ptrdiff_t column, std::ptrdiff_t row) {
      return 3 * (row * static_cast<std::ptrdiff_t>(upright.width) + column);
    };
    switch (orientation) {
      case 2: return at(right, y);
      case 3: return at(right, below);
      case 4: return at(x, below);
      case 5: return at(y, x);
      case 6: return at(below, x);
      case 7: return at(below, right);
      case 8: return at(y, right);
      default: return at(x, y);
    }
  };
  origin_ = upright.rgb.data() + place(0, 0);
  step_ = place(1, 0) - place(0, 0);
  stride_ = place(0, 1) - place(0, 0);
}

std::uint8_t* StoredRows::pixel(std::size_t x, std::size_t y) const {
  return origin_ + static_cast<std::ptrdiff_t>(x) * step_ + static_cast<std::ptrdiff_t>(y) * stride_;
}

std::uint8_t* StoredRows::in_place(std::size_t y) const { return step_ == 3 ? pixel(0, y) : nullptr; }

void StoredRows::put(std::size_t y, const std::uint8_t* row) const {
  for (std::size_t x = 0; x < width_; ++x) std::copy_n(row + 3 * x, 3, pixel(x, y));
}

void StoredRows::get(std::size_t y, std::uint8_t* row) const {
  for (std::size_t x = 0; x < width_; ++x) std::copy_n(pixel(x, y), 3, row + 3 * x);
}

Image turned_upright(Image stored, int orientation) {
  if (orientation == kUpright) return stored;
  Image upright{stored.width, stored.height, std::vector<std::uint8_t>(stored.rgb.size())};
  if (swaps_sides(orientation)) std::swap(upright.width, upright.height);
  const StoredRows rows(upright, orientation);
  for (std::size_t y = 0; y < stored.height; ++y) rows.put(y, stored.rgb.data() + 3 * y * stored.width);
  return upright;
}

}  // namespace dfrost

// Any bytes give a picture or an Error, and never more memory than a file of that length can ask for.

#include <webp/decode.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "data/image_file.h"
#include "data/orientation.h"
#include "dfrost/error.h"

namespace {

// A WebP file of a few bytes may be a plain colour of millions of pixels, which takes long and finds nothing.
bool is_large_webp(std::span<const std::uint8_t> bytes) {
  int width = 0, height = 0;
  if (bytes.size() < 12 || std::memcmp(bytes.data(), "RIFF", 4) != 0) return false;
  constexpr std::int64_t kEnough = 1 << 16;
  return WebPGetInfo(bytes.data(), bytes.size(), &width, &height) != 0 &&
         std::int64_t{width} * height > kEnough;
}

void decode(std::span<const std::uint8_t> bytes) {
  if (is_large_webp(bytes)) return;
  // The most a byte can stand for is deflate's 1032 bytes of 8 pixels each.
  constexpr std::size_t kMaxGrowth = std::size_t{1032} * 8 * 3;
  constexpr std::size_t kLargestWebp = std::size_t{3} << 16;
  try {
    const auto image = dfrost::decode_image(std::as_bytes(bytes), "fuzz");
    if (image.rgb.size() != image.width * image.height * 3) std::abort();
    if (image.rgb.size() > kMaxGrowth * (bytes.size() + 1) + kLargestWebp) std::abort();
  } catch (const dfrost::Error&) {
  }
}

void find_orientation(std::span<const std::uint8_t> bytes) {
  for (const int found :
       {dfrost::exif_orientation(std::as_bytes(bytes)), dfrost::png_orientation(std::as_bytes(bytes))}) {
    if (found < 1 || found > 8) std::abort();
  }
}

// Makes the checksum of every chunk of a PNG right: otherwise nearly every change stops there, and what lies
// behind is never reached.
std::vector<std::uint8_t> with_right_checksums(std::span<const std::uint8_t> png) {
  std::vector<std::uint8_t> fixed(png.begin(), png.end());
  std::size_t at = 8;  // a chunk: length, kind, data, checksum; all but the data 4 bytes, big-endian
  while (at + 12 <= fixed.size()) {
    std::size_t length = 0;
    for (int i = 0; i < 4; ++i) length = length << 8 | fixed[at + i];
    if (length > fixed.size() - at - 12) break;
    const uLong checksum = crc32(0, fixed.data() + at + 4, static_cast<uInt>(length + 4));
    for (int i = 0; i < 4; ++i)
      fixed[at + 8 + length + i] = static_cast<std::uint8_t>(checksum >> (24 - 8 * i));
    at += length + 12;
  }
  return fixed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(data, size);
  find_orientation(bytes);
  decode(bytes);
  if (size > 8 && data[0] == 0x89) decode(with_right_checksums(bytes));
  return 0;
}

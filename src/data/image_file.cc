#include "data/image_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/file.h"
#include "data/image_codec.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr std::array<unsigned char, 8> kPngMagic = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::array<unsigned char, 3> kJpegMagic = {0xff, 0xd8, 0xff};

bool starts_with(std::span<const std::byte> bytes, std::span<const unsigned char> magic) {
  return bytes.size() >= magic.size() &&
         std::equal(magic.begin(), magic.end(), bytes.begin(),
                    [](unsigned char expected, std::byte got) { return std::byte{expected} == got; });
}

Image decode(std::span<const std::byte> bytes) {
  if (bytes.empty()) throw Error(ErrorCode::data_loss, "the file is empty");
  if (starts_with(bytes, kPngMagic)) return decode_png(bytes);
  if (starts_with(bytes, kJpegMagic)) return decode_jpeg(bytes);
  throw Error(ErrorCode::unimplemented, "neither a PNG nor a JPEG file",
              "convert the picture to PNG or JPEG first");
}

}  // namespace

Image allocate_image(std::size_t width, std::size_t height, std::size_t file_bytes,
                     std::size_t max_pixels_per_byte) {
  if (width == 0 || height == 0) throw Error(ErrorCode::data_loss, "a picture without pixels");
  // Compared by division: the product of two hostile numbers may overflow.
  if (height > kMaxImagePixels / width) {
    throw Error(ErrorCode::unimplemented, fmt::format("{}x{} pixels, more than the {} million that are read",
                                                      width, height, kMaxImagePixels >> 20));
  }
  const std::size_t pixels = width * height;
  if (pixels / max_pixels_per_byte > file_bytes) {
    throw Error(ErrorCode::data_loss, fmt::format("{} bytes cannot hold the {}x{} pixels they announce",
                                                  file_bytes, width, height));
  }
  return {width, height, std::vector<std::uint8_t>(pixels * 3)};
}

Image decode_image(std::span<const std::byte> bytes, std::string_view name) {
  try {
    return decode(bytes);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("cannot read the picture {}: {}", name, error.what()), error.hint())
        .at(std::string(name));
  }
}

Image read_image(const std::filesystem::path& path) {
  const MappedFile file(path);
  return decode_image(file.bytes(), path.string());
}

void write_png(const std::filesystem::path& path, const ImageView& image) {
  write_file_atomically(path, encode_png(image));
}

}  // namespace dfrost

#include "data/image_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/file.h"
#include "data/decoding_budget.h"
#include "data/image_codec.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

using namespace std::string_view_literals;

bool has_at(std::span<const std::byte> bytes, std::size_t at, std::string_view magic) {
  return bytes.size() >= at + magic.size() && std::memcmp(bytes.data() + at, magic.data(), magic.size()) == 0;
}

// Formats that people have pictures in and that are not read, for an error that helps.
std::string_view known_but_not_read(std::span<const std::byte> bytes) {
  if (has_at(bytes, 0, "BM")) return "BMP";
  if (has_at(bytes, 0, "II*\0"sv) || has_at(bytes, 0, "MM\0*"sv)) return "TIFF";
  if (has_at(bytes, 4, "ftypavif")) return "AVIF";
  for (const auto brand : {"ftypheic", "ftypheix", "ftypmif1", "ftyphevc"}) {
    if (has_at(bytes, 4, brand)) return "HEIC";
  }
  return {};
}

Image decode(std::span<const std::byte> bytes, ExifOrientation exif) {
  if (bytes.empty()) throw Error(ErrorCode::data_loss, "the file is empty");
  const auto format = picture_format(bytes);
  if (format == "PNG") return decode_png(bytes, exif);
  if (format == "JPEG") return decode_jpeg(bytes, exif);
  if (format == "WebP") return decode_webp(bytes, exif);
  if (format == "GIF") return decode_gif(bytes);
  const auto known = known_but_not_read(bytes);
  throw Error(ErrorCode::unimplemented,
              known.empty() ? std::string("neither a PNG, JPEG, WebP nor GIF file")
                            : fmt::format("{} is not read", known),
              "convert the picture to PNG or JPEG first");
}

// Compared by division: the product of two hostile numbers may overflow.
void check_limits(const AnnouncedPicture& announced) {
  const std::size_t width = announced.width, height = announced.height;
  if (width == 0 || height == 0) throw Error(ErrorCode::data_loss, "a picture without pixels");
  const auto refuse = [&](const std::string& limit) {
    return Error(ErrorCode::unimplemented, fmt::format("{}x{} pixels, more than {}", width, height, limit),
                 "make it smaller first");
  };
  if (std::max(width, height) > kMaxImageSide)
    throw refuse(fmt::format("the {} a side that are read", kMaxImageSide));
  if (height > kMaxImagePixels / width)
    throw refuse(fmt::format("the {} million that are read", kMaxImagePixels >> 20));
  const std::size_t pixels = width * height;
  if (announced.max_pixels_per_byte != 0 && pixels / announced.max_pixels_per_byte > announced.file_bytes) {
    throw Error(ErrorCode::data_loss, fmt::format("{} bytes cannot hold the {}x{} pixels they announce",
                                                  announced.file_bytes, width, height));
  }
  if (announced.decoder_bytes > kMaxDecodingBytes - 3 * pixels) {
    throw refuse(fmt::format("a file of its kind may have: decoding it would take over {} MiB",
                             kMaxDecodingBytes >> 20));
  }
}

}  // namespace

std::string_view to_string(ExifOrientation exif) {
  return exif == ExifOrientation::apply ? "apply" : "ignore";
}

std::string_view picture_format(std::span<const std::byte> bytes) {
  if (has_at(bytes, 0, "\x89PNG\r\n\x1a\n")) return "PNG";
  if (has_at(bytes, 0, "\xff\xd8\xff")) return "JPEG";
  if (has_at(bytes, 0, "RIFF") && has_at(bytes, 8, "WEBP")) return "WebP";
  if (has_at(bytes, 0, "GIF87a") || has_at(bytes, 0, "GIF89a")) return "GIF";
  return {};
}

Image allocate_image(const AnnouncedPicture& announced) {
  check_limits(announced);
  DecodingShare::take(3 * announced.width * announced.height + announced.decoder_bytes);
  Image image{announced.width, announced.height,
              std::vector<std::uint8_t>(3 * announced.width * announced.height)};
  if (swaps_sides(announced.orientation)) std::swap(image.width, image.height);
  return image;
}

Image decode_image(std::span<const std::byte> bytes, std::string_view name, ExifOrientation exif) {
  try {
    return decode(bytes, exif);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("cannot read the picture {}: {}", name, error.what()), error.hint())
        .at(std::string(name));
  }
}

Image read_image(const std::filesystem::path& path, ExifOrientation exif) {
  const MappedFile file(path);
  Image image = decode_image(file.bytes(), path.string(), exif);
  file.check();
  return image;
}

void write_png(const std::filesystem::path& path, const ImageView& image) {
  write_file_atomically(path, encode_png(image));
}

}  // namespace dfrost

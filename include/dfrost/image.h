// A picture in memory: interleaved RGB bytes, rows from the top, no padding between rows; and how one comes
// from a PNG, JPEG, WebP or GIF file. The bytes are those of Pillow's Image.open(file).convert("RGB"), turned
// upright as ImageOps.exif_transpose does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace dfrost {

// Owned elsewhere.
struct ImageView {
  const std::uint8_t* rgb = nullptr;
  std::size_t width = 0;
  std::size_t height = 0;
};

struct Image {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<std::uint8_t> rgb;
  ImageView view() const { return {rgb.data(), width, height}; }
};

// What is done about the way the camera was held, where the file says it (Exif).
enum class ExifOrientation : std::uint8_t {
  apply,   // the picture stands upright, as people see it
  ignore,  // the pixels stay as they are stored
};
std::string_view to_string(ExifOrientation exif);

// Throws (data_loss, unimplemented) for what is no picture that can be read; errors name the file.
Image read_image(const std::filesystem::path& path, ExifOrientation exif = ExifOrientation::apply);

// `name` is what errors call these bytes: a path, or "batch.tar, entry 12".
Image decode_image(std::span<const std::byte> bytes, std::string_view name,
                   ExifOrientation exif = ExifOrientation::apply);

}  // namespace dfrost

// A picture in memory: interleaved RGB bytes, rows from the top, no padding between rows; and how one comes
// from a PNG or JPEG file. The bytes are those of Pillow's Image.open(file).convert("RGB").
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

// Throws (data_loss, unimplemented) for what is no picture that can be read; errors name the file.
Image read_image(const std::filesystem::path& path);

// `name` is what errors call these bytes: a path, or "batch.tar, entry 12".
Image decode_image(std::span<const std::byte> bytes, std::string_view name);

}  // namespace dfrost

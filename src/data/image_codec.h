// The two codecs behind image_file.h. Errors thrown here do not name the file yet; decode_image adds that.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dfrost/image.h"

namespace dfrost {

Image decode_png(std::span<const std::byte> bytes);
Image decode_jpeg(std::span<const std::byte> bytes);
std::vector<std::byte> encode_png(const ImageView& image);

// Allocates a black picture, unless it is above kMaxImagePixels or larger than `file_bytes` bytes can
// describe when one byte describes at most `max_pixels_per_byte` pixels: then the file is cut short or lies.
Image allocate_image(std::size_t width, std::size_t height, std::size_t file_bytes,
                     std::size_t max_pixels_per_byte);

}  // namespace dfrost

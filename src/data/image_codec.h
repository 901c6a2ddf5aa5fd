// The codecs behind image_file.h. Errors thrown here do not name the file yet; decode_image adds that. With
// ExifOrientation::apply the picture comes out upright.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "data/orientation.h"
#include "dfrost/image.h"

namespace dfrost {

Image decode_png(std::span<const std::byte> bytes, ExifOrientation exif);
Image decode_jpeg(std::span<const std::byte> bytes, ExifOrientation exif);
Image decode_webp(std::span<const std::byte> bytes, ExifOrientation exif);
Image decode_gif(std::span<const std::byte> bytes);  // has no Exif
std::vector<std::byte> encode_png(const ImageView& image);

// What a file says of its picture before anything of its size is allocated.
struct AnnouncedPicture {
  std::size_t width = 0;  // as stored
  std::size_t height = 0;
  std::size_t file_bytes = 0;
  std::size_t max_pixels_per_byte = 0;  // of the file, however well it is compressed; 0: there is no bound
  std::size_t decoder_bytes = 0;        // what the decoder takes beside the picture
  int orientation = kUpright;
};

// A black picture, upright; refused where the file is too short for it (it is cut short or lies), or where it
// is beyond the limits of image_file.h.
Image allocate_image(const AnnouncedPicture& announced);

}  // namespace dfrost

// How a camera was held, as its file says (Exif tag 0x0112), and pictures turned upright by it, pixel for
// pixel as Pillow's ImageOps.exif_transpose does. Values are Exif's: 1 is upright, 2 to 8 mirror or turn.
// Exif data is a TIFF directory of any bytes; what makes no sense there is upright, never an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dfrost/image.h"

namespace dfrost {

inline constexpr int kUpright = 1;

// Of a block of Exif data, with or without "Exif\0\0" in front.
int exif_orientation(std::span<const std::byte> exif);

// Of a PNG file, from its last eXIf chunk that is whole; kUpright where it has none.
int png_orientation(std::span<const std::byte> file);

// Turned by a quarter, so that width and height change places.
inline bool swaps_sides(int orientation) { return orientation >= 5; }

// The rows of a picture as they are stored, laid into the upright picture, whose size is set already.
// Decoders that go row by row write through it, so that no second picture is needed.
class StoredRows {
 public:
  StoredRows(Image& upright, int orientation);

  std::size_t width() const { return width_; }    // as stored
  std::size_t height() const { return height_; }  // as stored

  // Where the row lies as it is, or nullptr where its pixels are not in order: then put() and get() copy it.
  std::uint8_t* in_place(std::size_t y) const;
  void put(std::size_t y, const std::uint8_t* row) const;
  void get(std::size_t y, std::uint8_t* row) const;

 private:
  std::uint8_t* pixel(std::size_t x, std::size_t y) const;

  std::size_t width_;
  std::size_t height_;
  std::uint8_t* origin_;   // the first stored pixel
  std::ptrdiff_t step_;    // bytes from a stored pixel to the next of its row
  std::ptrdiff_t stride_;  // bytes from a stored row to the next
};

// A whole picture, for decoders that cannot go row by row.
Image turned_upright(Image stored, int orientation);

}  // namespace dfrost

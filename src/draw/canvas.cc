#include "draw/canvas.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/preprocess.h"
#include "draw/font.h"

namespace dfrost {
namespace {

constexpr std::size_t kSpaceColumns = 3;

struct Extent {
  std::size_t first = 0;
  std::size_t columns = 0;
};

// The columns that a letter uses: letters stand as close as they are narrow.
Extent extent_of(const Glyph& glyph) {
  std::uint8_t used = 0;
  for (const std::uint8_t row : glyph) used |= row;
  if (used == 0) return {0, kSpaceColumns};
  Extent extent{kGlyphColumns, 0};
  for (std::size_t column = 0; column < kGlyphColumns; ++column) {
    if ((used >> (kGlyphColumns - 1 - column) & 1) == 0) continue;
    extent.first = std::min(extent.first, column);
    extent.columns = column + 1 - extent.first;
  }
  return extent;
}

void set_pixel(Image& canvas, std::size_t x, std::size_t y, const std::uint8_t* rgb) {
  if (x >= canvas.width || y >= canvas.height) return;
  std::copy(rgb, rgb + 3, canvas.rgb.begin() + static_cast<std::ptrdiff_t>(3 * (y * canvas.width + x)));
}

// Its centre square, shrunk to `side` with the filter that models see pictures through.
Image shrink(const ImageView& picture, std::size_t side) {
  Preprocessing how;
  how.resize = side;
  how.crop = side;
  how.mean = {0, 0, 0};
  how.std = {1, 1, 1};
  std::vector<float> planes(3 * side * side);
  preprocess_to_planes(picture, how, planes);
  Image small{side, side, std::vector<std::uint8_t>(3 * side * side)};
  for (std::size_t i = 0; i < side * side; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      small.rgb[3 * i + c] = static_cast<std::uint8_t>(std::lround(planes[c * side * side + i] * 255.0f));
    }
  }
  return small;
}

}  // namespace

Image make_canvas(std::size_t width, std::size_t height, Color color) {
  Image canvas{width, height, std::vector<std::uint8_t>(3 * width * height)};
  fill(canvas, {0, 0, width, height}, color);
  return canvas;
}

void fill(Image& canvas, const Rectangle& where, Color color) {
  const std::uint8_t rgb[] = {color.red, color.green, color.blue};
  for (std::size_t y = where.y; y < std::min(canvas.height, where.y + where.height); ++y) {
    for (std::size_t x = where.x; x < std::min(canvas.width, where.x + where.width); ++x)
      set_pixel(canvas, x, y, rgb);
  }
}

void draw_picture(Image& canvas, const ImageView& picture, const Rectangle& where) {
  const std::size_t side = std::min(where.width, where.height);
  if (picture.width == 0 || picture.height == 0 || side == 0) return;
  if (std::max(picture.width, picture.height) > side) {
    const Image small = shrink(picture, side);
    return draw_picture(canvas, small.view(), where);
  }
  const std::size_t factor = side / std::max(picture.width, picture.height);
  const std::size_t left = where.x + (where.width - factor * picture.width) / 2;
  const std::size_t top = where.y + (where.height - factor * picture.height) / 2;
  for (std::size_t y = 0; y < factor * picture.height; ++y) {
    for (std::size_t x = 0; x < factor * picture.width; ++x) {
      set_pixel(canvas, left + x, top + y, picture.rgb + 3 * (y / factor * picture.width + x / factor));
    }
  }
}

void draw_text(Image& canvas, std::size_t x, std::size_t y, std::string_view text, std::size_t scale,
               Color color) {
  for (const Glyph& glyph : glyphs_of(text)) {
    const Extent extent = extent_of(glyph);
    for (std::size_t row = 0; row < kGlyphRows; ++row) {
      for (std::size_t column = 0; column < extent.columns; ++column) {
        if ((glyph[row] >> (kGlyphColumns - 1 - extent.first - column) & 1) == 0) continue;
        fill(canvas, {x + column * scale, y + row * scale, scale, scale}, color);
      }
    }
    x += (extent.columns + 1) * scale;
  }
}

std::size_t text_width(std::string_view text, std::size_t scale) {
  std::size_t columns = 0;
  for (const Glyph& glyph : glyphs_of(text)) columns += extent_of(glyph).columns + 1;
  return columns == 0 ? 0 : (columns - 1) * scale;
}

}  // namespace dfrost

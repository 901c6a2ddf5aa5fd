// Drawing into an Image: rectangles, pictures and small text, for contact sheets and heat maps. Everything is
// clipped at the edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dfrost/image.h"

namespace dfrost {

struct Color {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

struct Rectangle {
  std::size_t x = 0;
  std::size_t y = 0;
  std::size_t width = 0;
  std::size_t height = 0;
};

Image make_canvas(std::size_t width, std::size_t height, Color color);
void fill(Image& canvas, const Rectangle& where, Color color);

// Centred in `where`: enlarged by a whole factor (pixels stay sharp), or shrunk smoothly to its centre
// square.
void draw_picture(Image& canvas, const ImageView& picture, const Rectangle& where);

// UTF-8: Latin letters without their accents, other characters as boxes. A letter is 7 pixels high (9 with
// what hangs below) times `scale`; (x, y) is the top left of the first one.
void draw_text(Image& canvas, std::size_t x, std::size_t y, std::string_view text, std::size_t scale,
               Color color);
std::size_t text_width(std::string_view text, std::size_t scale);
inline constexpr std::size_t kTextHeight = 7;

}  // namespace dfrost

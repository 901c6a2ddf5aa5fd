// The letters of canvas.h: 5 pixels wide, 9 high (7 above the line, 2 below), printable ASCII.
#pragma once

#include <array>
#include <cstdint>

namespace dfrost {

inline constexpr std::size_t kGlyphColumns = 5;
inline constexpr std::size_t kGlyphRows = 9;

// Rows from the top; bit 4 of a row is its leftmost pixel.
using Glyph = std::array<std::uint8_t, kGlyphRows>;

Glyph glyph_of(char letter);

}  // namespace dfrost

// The letters of canvas.h: 5 pixels wide, 9 high (7 above the line, 2 below). Printable ASCII as it is,
// Latin letters up to U+017F without their accents, and a box for any other character.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dfrost {

inline constexpr std::size_t kGlyphColumns = 5;
inline constexpr std::size_t kGlyphRows = 9;

// Rows from the top; bit 4 of a row is its leftmost pixel.
using Glyph = std::array<std::uint8_t, kGlyphRows>;

// Of UTF-8 text, one per character; accents that stand on their own have none, a byte that is no UTF-8 has a
// box.
std::vector<Glyph> glyphs_of(std::string_view text);

}  // namespace dfrost

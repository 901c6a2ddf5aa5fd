// The two passes of a resize, one row at a time, vectorised (Highway: the best instruction set of the machine
// at run time). Sums are integers and divisions correctly rounded, so every machine gives the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "data/resize_taps.h"

namespace dfrost {

// Both passes read and write whole vectors, past the end of what they need by less than this many bytes.
inline constexpr std::size_t kVectorSlackBytes = 256;

// A row of pixels as three planes: red, then green, then blue, `stride` bytes apart.
struct PlanarRows {
  std::size_t pixels = 0;
  std::size_t stride() const { return pixels + kVectorSlackBytes; }
  std::size_t row_bytes() const { return 3 * stride(); }
};

// Along a row, the first pass. Output pixel x is the sum over t of weight[x, t] · input pixel (first[x] + t),
// rounded to a byte. `rgb` is interleaved; so is `scratch`, room for the output and the slack.
void resample_columns(const std::uint8_t* rgb, const AxisTaps& columns, std::uint8_t* scratch,
                      std::uint8_t* planes);

// (byte / 255 - mean) / std, per channel, each operation rounded to float.
struct Normalisation {
  std::array<float, 3> mean;
  std::array<float, 3> std;
};

// Rows of the picture that went through the first pass, by pointer: rows[i] is input row first_row + i.
struct RowWindow {
  std::span<const std::uint8_t* const> rows;
  std::size_t first_row = 0;
  PlanarRows shape;
};

// A square of the output: size x size pixels from (left, top) on.
struct Square {
  std::size_t left = 0;
  std::size_t top = 0;
  std::size_t size = 0;
};

// Across rows, the second pass, and what follows it, for one square: a byte of output row y is the sum over t
// of weight[y, t] · input row (first[y] + t), rounded; normalised, it goes to out, [3, size, size].
void resample_rows(const RowWindow& window, const AxisTaps& rows, const Square& square,
                   const Normalisation& normalisation, float* out);

}  // namespace dfrost

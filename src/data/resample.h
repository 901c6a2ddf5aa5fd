// The two passes of a resize over interleaved RGB bytes, one row at a time, vectorised (Highway, the best
// instruction set of the machine at run time). Integer arithmetic: every machine gives the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "data/resize_taps.h"

namespace dfrost {

// Both passes read and write whole vectors, past the end of the row by less than this many bytes.
inline constexpr std::size_t kRowSlackBytes = 256;

// Along a row: output pixel x is the sum over t of weight[x, t] · in pixel (first[x] + t).
void resample_columns(const std::uint8_t* row, const AxisTaps& columns, std::uint8_t* out);

// Across rows: byte i is the sum over t of weights[t] · rows[t][i], for i < `bytes`.
void resample_rows(std::span<const std::uint8_t* const> rows, const std::int32_t* weights, std::size_t bytes,
                   std::uint8_t* out);

}  // namespace dfrost

// What the drawn sheets have in common: paper, ink, margins.
#pragma once

#include <cstddef>

#include "draw/canvas.h"

namespace dfrost {

inline constexpr std::size_t kMargin = 24;
inline constexpr std::size_t kTitleScale = 3;
inline constexpr Color kPaper = {250, 250, 248};
inline constexpr Color kInk = {32, 34, 40};
inline constexpr Color kFaint = {128, 132, 140};

}  // namespace dfrost

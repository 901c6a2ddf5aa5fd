// Where a picture ends up: torchvision's rules for the size after a resize and for the place of a centre
// crop.
#pragma once

#include <cstddef>

#include "data/preprocess.h"

namespace dfrost {

struct Size {
  std::size_t width = 0;
  std::size_t height = 0;
};

// The longer side is rounded down.
Size resized_size(std::size_t width, std::size_t height, const Preprocessing& how);

// The first pixel of a centre crop along a side; negative where the crop is larger than the side, and then it
// is the number of black pixels put before it.
std::ptrdiff_t crop_begin(std::size_t side, std::size_t crop);

}  // namespace dfrost

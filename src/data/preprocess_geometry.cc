#include "data/preprocess_geometry.h"

#include <algorithm>

namespace dfrost {

Size resized_size(std::size_t width, std::size_t height, const Preprocessing& how) {
  if (how.stretch) return {how.resize, how.resize};
  const std::size_t shorter = std::min(width, height);
  return {how.resize * width / shorter, how.resize * height / shorter};
}

std::ptrdiff_t crop_begin(std::size_t side, std::size_t crop) {
  if (side < crop) return -static_cast<std::ptrdiff_t>((crop - side) / 2);
  // Half of the rest; a half pixel goes to the even neighbour, as Python rounds.
  const std::size_t rest = side - crop;
  return static_cast<std::ptrdiff_t>(rest / 2 + (rest % 4 == 3 ? 1 : 0));
}

}  // namespace dfrost

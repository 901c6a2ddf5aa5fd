// Which input pixels make an output pixel along one axis of a picture, and with what weights: Pillow's rule.
// Bilinear and bicubic (a = -0.5) widen with the reduction when they shrink, so that every input pixel
// counts; nearest takes one. Weights are fixed-point with kWeightBits bits, which is what makes results
// exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dfrost/preprocessing.h"

namespace dfrost {

inline constexpr int kWeightBits = 22;

struct AxisTaps {
  std::size_t taps = 0;              // input pixels per output pixel, the same for all; unused ones weigh 0
  std::vector<std::uint32_t> first;  // [outputs], never decreasing: the input pixel of tap 0
  std::vector<std::int32_t> weight;  // [outputs, taps]

  std::size_t outputs() const { return first.size(); }
  const std::int32_t* weights_of(std::size_t output) const { return weight.data() + output * taps; }
};

// An axis of `input` pixels resized to `resized`, of which the `count` from `begin` on are wanted. Wanted
// pixels outside of the resized axis have no weight at all: they come out black.
struct AxisWindow {
  std::size_t input = 0;
  std::size_t resized = 0;
  std::ptrdiff_t begin = 0;
  std::size_t count = 0;
};

AxisTaps make_axis_taps(const AxisWindow& window, ResizeFilter filter);

}  // namespace dfrost

// From the bytes of a picture to the patches that a vision transformer reads: resize, crop, normalise and cut
// into patches in one pass. Resizing follows Pillow (antialiased when it shrinks, 8-bit between the passes),
// cropping and rounding follow torchvision, so that a picture gives the same floats here as there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "data/resample.h"
#include "data/resize_taps.h"
#include "dfrost/preprocessing.h"

namespace dfrost {

// Everything that depends on the size of the pictures but not on their pixels, worked out once. Immutable:
// threads may share one.
class Preprocessor {
 public:
  Preprocessor(std::size_t width, std::size_t height, const Preprocessing& how);

  // The patches of one picture (interleaved RGB, width x height), [patches, 3·patch²] row-major: patches row
  // by row from the top left, inside a patch all of red, then green, then blue, as a convolution's weight [d,
  // 3, patch, patch] is laid out. `patch` divides the crop.
  void to_patches(const std::uint8_t* rgb, std::size_t patch, std::span<float> patches) const;

  // The same picture as planes [3, crop, crop]: what other frameworks call pixel_values.
  void to_planes(const std::uint8_t* rgb, std::span<float> planes) const { to_patches(rgb, crop_, planes); }

 private:
  std::size_t width_;
  std::size_t crop_;
  std::size_t first_column_;  // the picture's first column that survives the crop; columns_ counts from it
  AxisTaps columns_;
  AxisTaps rows_;
  Normalisation normalisation_;
};

// For one picture of its size.
void preprocess_to_patches(const ImageView& image, const Preprocessing& how, std::size_t patch,
                           std::span<float> patches);
void preprocess_to_planes(const ImageView& image, const Preprocessing& how, std::span<float> planes);

}  // namespace dfrost

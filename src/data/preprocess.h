// From the bytes of a picture to the patches that a vision transformer reads: resize, crop, normalise and cut
// into patches in one pass. Resizing follows Pillow (antialiased when it shrinks, 8-bit between the passes),
// so that a picture gives the same input here as in torchvision or Hugging Face.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "data/image.h"

namespace dfrost {

enum class ResizeFilter { nearest, bilinear, bicubic };

struct Preprocessing {
  // The shorter side is resized to this, keeping the aspect ratio; or, with `stretch`, both sides.
  std::size_t resize = 256;
  bool stretch = false;
  ResizeFilter filter = ResizeFilter::bilinear;
  // Then the centre square of this many pixels is taken: the model's input size.
  std::size_t crop = 224;
  // (byte / 255 - mean) / std, per channel.
  std::array<float, 3> mean = {0.485f, 0.456f, 0.406f};
  std::array<float, 3> std = {0.229f, 0.224f, 0.225f};
};

// The patches of one picture, [patches, 3·patch²] row-major: patches row by row from the top left, inside a
// patch all of red, then green, then blue, as a convolution's weight [d, 3, patch, patch] is laid out.
void preprocess_to_patches(const ImageView& image, const Preprocessing& how, std::size_t patch,
                           std::span<float> patches);

// The same picture as planes [3, crop, crop]: what other frameworks call pixel_values.
void preprocess_to_planes(const ImageView& image, const Preprocessing& how, std::span<float> planes);

// Cuts planes [3, size, size] that are already normalised into patches.
void planes_to_patches(std::span<const float> planes, std::size_t size, std::size_t patch,
                       std::span<float> patches);

}  // namespace dfrost

// How a checkpoint wants its pictures: resized, cropped, normalised and cut into patches. Resizing follows
// Pillow (antialiased when it shrinks, 8-bit between the passes), cropping and rounding follow torchvision,
// so that a picture gives the same floats here as there.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "dfrost/geometry.h"
#include "dfrost/image.h"
#include "dfrost/threads.h"

namespace dfrost {

enum class ResizeFilter { nearest, bilinear, bicubic };

struct Preprocessing {
  // The shorter side is resized to this, keeping the aspect ratio; or, with `stretch`, both sides.
  std::size_t resize = 256;
  bool stretch = false;
  ResizeFilter filter = ResizeFilter::bilinear;
  // Then the centre square of this many pixels is taken: the model's input size. Where the picture is
  // smaller, black pixels are added around it.
  std::size_t crop = 224;
  // (byte / 255 - mean) / std, per channel.
  std::array<float, 3> mean = {0.485f, 0.456f, 0.406f};
  std::array<float, 3> std = {0.229f, 0.224f, 0.225f};

  // Throws invalid_argument naming the field that makes no sense.
  void validate() const;
};

// What the checkpoint says of itself, named as load_backbone() takes it; `image_size` as in BackboneOptions.
Preprocessing load_preprocessing(const std::filesystem::path& name_or_path, std::size_t image_size = 0);

// What Backbone::embed() takes: [images·patches, 3·patch²] row-major. Patches go row by row from the top
// left; inside a patch stands all of red, then green, then blue. Throws (failed_precondition) where the
// cropped picture is not the model's input; threads may be null.
std::vector<float> preprocess(std::span<const ImageView> images, const Preprocessing& how,
                              const Geometry& geometry, ThreadPool* threads = nullptr);

// The same for one picture that is prepared already: planes [3, size, size], as other frameworks have them.
void planes_to_patches(std::span<const float> planes, std::size_t size, std::size_t patch,
                       std::span<float> patches);

}  // namespace dfrost

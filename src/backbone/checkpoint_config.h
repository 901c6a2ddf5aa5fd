// What the JSON files beside a checkpoint say: config.json (Hugging Face's or timm's) and
// preprocessor_config.json. All of it is optional; what contradicts the weights is found by the reader of
// both.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/preprocess.h"

namespace dfrost {

struct CheckpointConfig {
  std::optional<std::size_t> width, depth, heads, mlp_width, patch_size, image_size;
  std::optional<float> layer_norm_epsilon;
  std::optional<Preprocessing> preprocessing;
  std::string preprocessing_file;        // which of the two files it is from
  std::vector<std::string> class_names;  // by class; empty when not given
};

// Reads both files in `folder` where they exist. Throws data_loss for a value of the wrong kind,
// unimplemented for one that changes what the model computes in a way that is not supported (another
// activation, another filter).
CheckpointConfig read_checkpoint_config(const std::filesystem::path& folder);

// How the pictures were prepared on which a family of checkpoints was trained, when no file says:
//   torchvision  resize 256/224 of the size, bilinear, ImageNet's mean and deviation
//   swag         resize to the size, bicubic, ImageNet's mean and deviation    (torchvision's H/14 and
//   others) google       both sides to the size, bilinear, mean and deviation 0.5      (google/vit on Hugging
//   Face) augreg       resize size/0.9, bicubic, mean and deviation 0.5              (timm's ViTs) deit
//   resize 256/224 of the size, bicubic, ImageNet's mean and deviation
std::vector<std::string> preprocessing_styles();
Preprocessing preprocessing_of_style(std::string_view style, std::size_t image_size);

// The same preparation for another image size: the resized side grows in proportion.
Preprocessing resized(Preprocessing preprocessing, std::size_t image_size);

}  // namespace dfrost

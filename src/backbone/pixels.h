// The model that does nothing: the feature of a picture is its grey pixels, so that a head on it is a
// perceptron over pixels. It has a name, "pixels", and no file; prompts reach no feature. Any image size, 28
// where none is asked for. Grey is the mean of the colours; pixels go from 0 to 1 unless another preparation
// is asked for.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "backbone/architecture.h"
#include "backbone/checkpoint.h"

namespace dfrost {

inline constexpr std::string_view kPixels = "pixels";

bool is_pixels(const std::filesystem::path& path);
std::unique_ptr<Checkpoint> open_pixels(const CheckpointOptions& options);

// For its row in the table of architectures.
bool never_pixels(const TensorDescriptions& tensors);  // no file holds them
StepFlops pixels_flops(const Geometry& geometry, std::size_t prompts);
std::size_t pixels_weight_bytes(const Geometry& geometry, Precision precision, bool training);

}  // namespace dfrost

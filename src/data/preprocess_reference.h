// The slow and obvious versions that preprocess.h is checked against: the whole picture resized, then
// cropped, then normalised, each step a picture of its own. Also the resize to use where speed does not
// matter.
#pragma once

#include <cstddef>
#include <vector>

#include "data/preprocess.h"
#include "dfrost/image.h"

namespace dfrost {

// Byte for byte Pillow's Image.resize((width, height), filter).
Image resize_image(const ImageView& image, std::size_t width, std::size_t height, ResizeFilter filter);

// Pixels of the centre square; black where it reaches beyond the picture.
Image crop_centre(const ImageView& image, std::size_t size);

// Planes [3, crop, crop].
std::vector<float> reference_planes(const ImageView& image, const Preprocessing& how);

}  // namespace dfrost

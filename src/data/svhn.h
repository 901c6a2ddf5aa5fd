// Street View House Numbers, cropped: `train_32x32.mat` holds X [32, 32, 3, N] (row, column, channel,
// picture; rows vary fastest) and y [N, 1], where label 10 stands for the digit 0.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "data/dataset.h"

namespace dfrost {

PictureSet parse_svhn_mat(std::span<const std::byte> bytes, const std::string& place);
PictureSet read_svhn_mat(const std::filesystem::path& path);

}  // namespace dfrost

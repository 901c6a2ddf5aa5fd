// The idx files of MNIST and its kin: big-endian header, then bytes. Magic 0x0803 is [count, rows, columns]
// of grey pixels, 0x0801 is [count] labels (LeCun's "THE IDX FILE FORMAT"). Plain or gzip.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "data/dataset.h"

namespace dfrost {

// Both files' contents, inflated. A label of `classes` or more is an error that names its offset.
PictureSet parse_idx(std::vector<std::uint8_t> images, const std::string& images_place,
                     std::span<const std::uint8_t> labels, const std::string& labels_place,
                     std::size_t classes);

PictureSet read_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                    std::size_t classes);

}  // namespace dfrost

// How many pictures the files of known layouts hold, without reading the pictures: by headers and sizes.
#pragma once

#include <cstddef>
#include <filesystem>

namespace dfrost {

// Each of them throws (data_loss) where the file is none of its kind.
std::size_t count_idx(const std::filesystem::path& images);             // plain or .gz
std::size_t count_cifar_records(const std::filesystem::path& records);  // plain or .gz
std::size_t count_cifar_png(const std::filesystem::path& batch);
std::size_t count_svhn_mat(const std::filesystem::path& file);

}  // namespace dfrost

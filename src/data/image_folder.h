// Pictures sorted into folders: one subfolder per class, under train/, val/ and test/ where the set is split.
// CINIC-10, MMAFEDB and notMNIST come this way, and so may anybody's own. Classes are the subfolders' names
// in byte order, pictures are taken in byte order of their paths; the same folder always gives the same set.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "data/read_options.h"

namespace dfrost {

// True if the folder holds split folders or class folders with at least one picture in reach.
bool is_image_folder(const std::filesystem::path& folder);

// The names of the class folders, in byte order, without reading a picture; also of those that hold none.
std::vector<std::string> image_folder_classes(const std::filesystem::path& folder);

// Fills class names, splits and skipped files. Other files are skipped and counted, a broken picture too.
Dataset read_image_folder(const std::filesystem::path& folder, const ReadOptions& options);

// Of the files that look like pictures.
SplitCounts count_image_folder(const std::filesystem::path& folder);

// "train", "training", "notMNIST_large" … → train; and so on, in any case.
std::optional<Split> split_of_folder_name(std::string_view name);

}  // namespace dfrost

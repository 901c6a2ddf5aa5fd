// The layouts in which data sets lie on disk: for each, how it is recognised by its file names and how it is
// read. `find` looks at a place and at the subfolders into which archives of that layout unpack.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/read_options.h"

namespace dfrost {

struct Layout {
  std::string name;
  // The folder or file to read, if this layout is at `place`.
  std::function<std::optional<std::filesystem::path>(const std::filesystem::path& place)> find;
  // `class_names` empty: taken from the data. Fills everything but name, format and location.
  std::function<Dataset(const std::filesystem::path&, const std::vector<std::string>& class_names,
                        const ReadOptions&)>
      read;
  // What a whole published set has in that folder: for each file, the names that it may go by, plain or .gz.
  // Empty where it is not known by name.
  std::vector<std::vector<std::string>> files = {};

  // Of those the ones that are not at `path`.
  std::vector<std::string> missing_at(const std::filesystem::path& path) const;
};

std::span<const Layout> layouts();
// An unknown name is an Error with the nearest known one.
const Layout& find_layout(std::string_view name);

// How many pictures lie where a layout was found, by headers, sizes and names of files alone: as they are
// split on disk, before anything is held out, and with those that reading would find to be broken.
SplitCounts count_pictures_at(const std::filesystem::path& path, std::string_view format);

}  // namespace dfrost

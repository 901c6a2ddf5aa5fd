// The data sets dfrost knows by name, where they may lie on disk, and how to open one — or any folder, CSV
// file or set of idx or record files of the user's own.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "data/read_options.h"

namespace dfrost {

struct DatasetInfo {
  std::string name;   // "cifar10"
  std::string title;  // "CIFAR-10"
  std::vector<std::string> class_names;
  std::size_t train = 0;  // pictures in the published set
  std::size_t test = 0;
  std::vector<std::string> places;   // folders it may lie in, relative to the data folder or absolute
  std::vector<std::string> formats;  // the layouts it comes in, by name, in the order in which they are tried
  std::string files;                 // what to put there, for people
};

std::span<const DatasetInfo> dataset_catalog();
const DatasetInfo* find_dataset_info(std::string_view name);

// One domain of an experiment: a name of the catalog, or a name of the user's with a path.
struct DomainSpec {
  std::string name = {};
  std::filesystem::path path = {};        // empty: look for the name below the data folder
  std::string format = {};                // empty: found out; else one of format_names()
  std::optional<std::size_t> train = {};  // pictures to use, where not what all domains use
  std::optional<std::size_t> test = {};
};

std::vector<std::string> format_names();

struct DatasetLocation {
  std::filesystem::path path;
  std::string format;
  std::vector<std::string> missing = {};  // files that a whole set of that format has
};

// Where the data set lies, or nothing. Looks at names of files only.
std::optional<DatasetLocation> locate_dataset(const DomainSpec& spec, const std::filesystem::path& root);

// How many pictures are there, without reading them.
SplitCounts count_pictures(const DatasetLocation& location);

// Reads it whole. Not found: the error says which file to put where.
Dataset open_dataset(const DomainSpec& spec, const std::filesystem::path& root,
                     const ReadOptions& options = {});

// $DFROST_DATA, else $XDG_DATA_HOME/dfrost/data, else ~/.local/share/dfrost/data.
std::filesystem::path default_data_root();

}  // namespace dfrost

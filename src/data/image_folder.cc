#include "data/image_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "data/picture_files.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

std::vector<fs::path> sorted_subfolders(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory() && !is_hidden(entry.path())) found.push_back(entry.path());
  }
  if (error) {
    throw Error(ErrorCode::not_found, fmt::format("cannot list {}: {}", folder.string(), error.message()))
        .at(folder.string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Every file below a class folder; what is not a picture by its name is counted, not read.
void list_class(const fs::path& folder, int label, std::vector<LabelledFile>& files, SkippedFiles& skipped) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory() && !is_hidden(entry.path())) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  for (const auto& path : found) {
    if (looks_like_picture(path)) {
      files.push_back({path, label});
    } else {
      skipped.add(path, "not a .png or .jpg file");
    }
  }
}

struct SplitFolder {
  Split split;
  fs::path folder;
};

// The split folders, or the folder itself as "train". If only one split is there, that one is "train" too. A
// split has folders of classes in it: a folder "train" of pictures is a class, of railways.
std::vector<SplitFolder> find_splits(const fs::path& folder) {
  std::vector<SplitFolder> found;
  for (const auto& sub : sorted_subfolders(folder)) {
    const auto split = split_of_folder_name(sub.filename().string());
    if (split && !sorted_subfolders(sub).empty()) found.push_back({*split, sub});
  }
  if (found.empty()) found.push_back({Split::train, folder});
  if (found.size() == 1) found[0].split = Split::train;
  return found;
}

std::vector<std::string> find_classes(std::span<const SplitFolder> splits) {
  std::set<std::string> names;
  for (const auto& split : splits) {
    for (const auto& sub : sorted_subfolders(split.folder)) names.insert(sub.filename().string());
  }
  return {names.begin(), names.end()};
}

}  // namespace

std::optional<Split> split_of_folder_name(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == "train" || lower == "training" || lower == "notmnist_large") return Split::train;
  if (lower == "val" || lower == "valid" || lower == "validation") return Split::val;
  if (lower == "test" || lower == "testing" || lower == "notmnist_small") return Split::test;
  return std::nullopt;
}

bool is_image_folder(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  for (const auto& split : find_splits(folder)) {
    for (const auto& sub : sorted_subfolders(split.folder)) {
      for (const auto& entry : fs::recursive_directory_iterator(sub, error)) {
        if (looks_like_picture(entry.path())) return true;
      }
    }
  }
  return false;
}

Dataset read_image_folder(const fs::path& folder, const ReadOptions& options) {
  Dataset dataset;
  const auto splits = find_splits(folder);
  dataset.class_names = find_classes(splits);
  if (dataset.class_names.empty()) {
    throw Error(ErrorCode::not_found, fmt::format("{} has no class folders", folder.string()),
                "put the pictures of each class into a subfolder of that name")
        .at(folder.string());
  }
  for (const auto& [split, split_folder] : splits) {
    std::vector<LabelledFile> files;
    for (std::size_t label = 0; label < dataset.class_names.size(); ++label) {
      const fs::path class_folder = split_folder / dataset.class_names[label];
      if (fs::is_directory(class_folder))
        list_class(class_folder, static_cast<int>(label), files, dataset.skipped);
    }
    append_set(dataset[split], read_picture_files(files, options, dataset.skipped));
  }
  if (dataset[Split::train].size() == 0) {
    throw Error(ErrorCode::data_loss,
                fmt::format("{} has no readable training picture; {} files were skipped", folder.string(),
                            dataset.skipped.count()),
                dataset.skipped.examples.empty() ? "" : dataset.skipped.examples.front())
        .at(folder.string());
  }
  return dataset;
}

}  // namespace dfrost

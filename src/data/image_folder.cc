#include "data/image_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/text.h"
#include "data/picture_files.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

// Hidden files and folders, and the shadow copy of them all that a Mac adds to an archive.
bool is_ignored(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name == "__MACOSX";
}

Error cannot_list(const fs::path& folder, const std::error_code& why) {
  return Error(ErrorCode::not_found, fmt::format("cannot list {}: {}", folder.string(), why.message()))
      .at(folder.string());
}

std::vector<fs::path> sorted_subfolders(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  std::error_code leads_nowhere;  // a link in circles is no folder, and no reason to stop
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory(leads_nowhere) && !is_ignored(entry.path())) found.push_back(entry.path());
  }
  if (error) throw cannot_list(folder, error);
  std::sort(found.begin(), found.end());
  return found;
}

// All files below a folder, until `found` says false.
void visit_files(const fs::path& folder, std::error_code& error,
                 const std::function<bool(const fs::path&)>& found) {
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code leads_nowhere;
    if (is_ignored(entry->path())) {
      entry.disable_recursion_pending();
    } else if (!entry->is_directory(leads_nowhere) && !found(entry->path())) {
      return;
    }
  }
}

// Every file below a class folder; what is not a picture by its name is counted, not read.
void list_class(const fs::path& root, const fs::path& folder, int label, std::vector<LabelledFile>& files,
                SkippedFiles& skipped) {
  std::vector<fs::path> found;
  std::error_code error;
  visit_files(folder, error, [&](const fs::path& path) { return found.push_back(path), true; });
  if (error) throw cannot_list(folder, error);
  std::sort(found.begin(), found.end());
  for (const auto& path : found) {
    if (looks_like_picture(path)) {
      files.push_back({path, label, path.lexically_relative(root).generic_string()});
    } else {
      skipped.add(path, why_no_picture(path));
    }
  }
}

struct SplitFolder {
  Split split;
  fs::path folder;
};

// The split folders, or the folder itself as "train". A lone "val" or "notMNIST_small" is all there is to
// train on, and so "train" too; a lone "test" is there to be scored. A split has folders of classes in it: a
// folder "train" of pictures is a class, of railways.
std::vector<SplitFolder> find_splits(const fs::path& folder) {
  std::vector<SplitFolder> found;
  for (const auto& sub : sorted_subfolders(folder)) {
    const auto split = split_of_folder_name(sub.filename().string());
    if (split && !sorted_subfolders(sub).empty()) found.push_back({*split, sub});
  }
  if (found.empty()) found.push_back({Split::train, folder});
  const auto is_published_alone = [](const SplitFolder& only) {
    return only.split == Split::val || lower_case(only.folder.filename().string()) == "notmnist_small";
  };
  if (found.size() == 1 && is_published_alone(found[0])) found[0].split = Split::train;
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
  const std::string lower = lower_case(name);
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
      bool has_picture = false;
      visit_files(sub, error,
                  [&](const fs::path& path) { return !(has_picture = looks_like_picture(path)); });
      if (has_picture) return true;
    }
  }
  return false;
}

SplitCounts count_image_folder(const fs::path& folder) {
  SplitCounts counts{};
  for (const auto& [split, split_folder] : find_splits(folder)) {
    std::vector<LabelledFile> files;
    SkippedFiles skipped;
    for (const auto& sub : sorted_subfolders(split_folder)) list_class(folder, sub, 0, files, skipped);
    counts[static_cast<std::size_t>(split)] += files.size();
  }
  return counts;
}

std::vector<std::string> image_folder_classes(const fs::path& folder) {
  return find_classes(find_splits(folder));
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
        list_class(folder, class_folder, static_cast<int>(label), files, dataset.skipped);
    }
    append_set(dataset[split], read_picture_files(files, options, dataset.skipped));
  }
  if (dataset[Split::train].size() + dataset[Split::test].size() == 0) {
    throw Error(ErrorCode::data_loss,
                fmt::format("{} has no readable picture; {} files were skipped", folder.string(),
                            dataset.skipped.count()),
                dataset.skipped.files.empty() ? "" : dataset.skipped.files.front().line())
        .at(folder.string());
  }
  return dataset;
}

}  // namespace dfrost

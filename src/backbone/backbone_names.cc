#include "backbone/backbone_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "backbone/moments_file.h"
#include "backbone/pixels.h"
#include "base/quote.h"
#include "base/share_folder.h"
#include "base/suggest.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

// Filled by what runs before main(), so it must not wait for an initialisation of its own.
struct AddedFolders {
  std::mutex mutex;
  std::vector<fs::path> folders;
};
AddedFolders& added_folders() {
  static AddedFolders added;
  return added;
}

std::vector<fs::path> shipped_roots() {
  std::vector<fs::path> roots;
  {
    auto& added = added_folders();
    const std::lock_guard lock(added.mutex);
    roots = added.folders;
  }
  for (auto& root : shipped_folders("backbones")) roots.push_back(std::move(root));
  return roots;
}

bool is_checkpoint_file(const fs::path& path) {
  if (path.filename().string().starts_with(kMomentsPrefix)) return false;
  const auto extension = path.extension();
  return extension == ".safetensors" || extension == ".pth" || extension == ".pt" || extension == ".bin";
}

// The checkpoint that a fetched folder holds; the folder where it holds several files, such as shards.
std::optional<fs::path> fetched_checkpoint(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder, absent)) {
    if (is_checkpoint_file(entry.path())) files.push_back(entry.path());
  }
  if (files.empty()) return std::nullopt;
  return files.size() == 1 ? files.front() : folder;
}

std::vector<std::string> names_in(const fs::path& root) {
  std::vector<std::string> names;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(root, absent)) names.push_back(entry.path().filename());
  return names;
}

}  // namespace

void add_backbone_folder(const fs::path& folder) {
  auto& added = added_folders();
  const std::lock_guard lock(added.mutex);
  if (std::ranges::find(added.folders, folder) == added.folders.end()) added.folders.push_back(folder);
}

bool is_backbone_name(const fs::path& path) { return path.string().find_first_of("/.") == std::string::npos; }

fs::path default_backbone_root() {
  if (const char* named = std::getenv("DFROST_BACKBONES"); named != nullptr && *named != '\0') return named;
  if (const char* xdg = std::getenv("XDG_DATA_HOME"); xdg != nullptr && *xdg != '\0') {
    return fs::path(xdg) / "dfrost/backbones";
  }
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr ? home : ".") / ".local/share/dfrost/backbones";
}

std::vector<std::string> shipped_backbones() {
  std::vector<std::string> names;
  for (const auto& root : shipped_roots()) {
    for (auto& name : names_in(root)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());  // ranges::unique is beyond clang 14
  return names;
}

std::optional<fs::path> find_shipped_backbone(const std::string& name) {
  for (const auto& root : shipped_roots()) {
    if (fs::exists(root / name / "model.safetensors")) return root / name;
  }
  return std::nullopt;
}

std::optional<fs::path> locate_backbone(const fs::path& name_or_path) {
  if (!is_backbone_name(name_or_path) || fs::exists(name_or_path)) return name_or_path;
  // The user's own first: who puts a frost-mini there means that one.
  if (auto own = fetched_checkpoint(default_backbone_root() / name_or_path)) return own;
  if (is_pixels(name_or_path)) return name_or_path;
  return find_shipped_backbone(name_or_path.string());
}

fs::path find_backbone(const fs::path& name_or_path) {
  if (auto found = locate_backbone(name_or_path)) return *found;
  const std::string name = name_or_path.string();
  std::vector<std::string> known = shipped_backbones();
  known.emplace_back(kPixels);
  for (auto& own : names_in(default_backbone_root())) known.push_back(std::move(own));
  const auto near = nearest(name, known);
  throw Error(
      ErrorCode::not_found,
      fmt::format("there is no backbone {} on this machine, nor a file of that name", quote_name(name)),
      near ? fmt::format("did you mean '{}'?", *near)
           : "frost-mini comes with dfrost; 'dfrost backbone get' fetches others");
}

}  // namespace dfrost

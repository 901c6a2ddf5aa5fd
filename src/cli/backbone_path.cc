#include "cli/backbone_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quote.h"
#include "base/suggest.h"
#include "config/config.h"
#include "dfrost/error.h"
#include "fetch/sources.h"

namespace dfrost::cli {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> shipped_roots() {
  std::error_code unknown;
  const fs::path here = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  if (unknown) return {};
  return {here / "share/dfrost/backbones", here.parent_path() / "share/dfrost/backbones"};
}

[[noreturn]] void refuse_unknown(const std::string& name) {
  std::vector<std::string> known = shipped_backbones();
  for (const auto& source : backbone_sources()) known.push_back(source.name);
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("there is no backbone {}, nor a file of that name", quote_name(name)),
      did_you_mean(name, known,
                   "frost-mini comes with dfrost; 'dfrost backbone get --help' lists what can be fetched"));
}

}  // namespace

std::vector<std::string> shipped_backbones() {
  std::vector<std::string> names;
  for (const auto& root : shipped_roots()) {
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(root, absent)) names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

std::optional<fs::path> find_shipped_backbone(const std::string& name) {
  for (const auto& root : shipped_roots()) {
    if (fs::exists(root / name / "model.safetensors")) return root / name;
  }
  return std::nullopt;
}

fs::path find_backbone(const std::string& path_or_name) {
  if (!is_backbone_name(path_or_name) || fs::exists(path_or_name)) return path_or_name;
  if (auto shipped = find_shipped_backbone(path_or_name)) return *shipped;
  const auto source = std::ranges::find(backbone_sources(), path_or_name, &Source::name);
  if (source == backbone_sources().end()) refuse_unknown(path_or_name);
  fs::path file = default_backbone_root() / source->name / source->files.at(0).name;
  if (fs::exists(file)) return file;
  throw Error(
      ErrorCode::not_found, fmt::format("the backbone '{}' is not on this machine", source->name),
      fmt::format("fetch it by 'dfrost backbone get {0}', or take 'frost-mini', which comes with dfrost",
                  source->name))
      .at(file.string());
}

}  // namespace dfrost::cli

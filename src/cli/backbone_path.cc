#include "cli/backbone_path.h"

#include <fmt/format.h>

#include "dfrost/error.h"
#include "fetch/sources.h"
#include "run/config.h"

namespace dfrost::cli {

std::filesystem::path find_backbone(const std::string& path_or_name) {
  namespace fs = std::filesystem;
  if (!is_backbone_name(path_or_name) || fs::exists(path_or_name)) return path_or_name;
  const auto& source = find_source(backbone_sources(), path_or_name, "backbone");
  const fs::path file = default_backbone_root() / source.name / source.files.at(0).name;
  if (fs::exists(file)) return file;
  throw Error(
      ErrorCode::not_found, fmt::format("the backbone '{}' is not on this machine", source.name),
      fmt::format("fetch it by 'dfrost backbone get {}', or give the path of a checkpoint", source.name))
      .at(file.string());
}

}  // namespace dfrost::cli

#include "cli/backbone_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "backbone/backbone_names.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "dfrost/error.h"
#include "fetch/sources.h"

namespace dfrost::cli {
namespace {

namespace fs = std::filesystem;

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

fs::path find_backbone(const std::string& path_or_name) {
  if (auto found = locate_backbone(path_or_name)) return *found;
  const auto source = std::ranges::find(backbone_sources(), path_or_name, &Source::name);
  if (source == backbone_sources().end()) refuse_unknown(path_or_name);
  const fs::path file = default_backbone_root() / source->name / source->files.at(0).name;
  throw Error(
      ErrorCode::not_found, fmt::format("the backbone '{}' is not on this machine", source->name),
      fmt::format("fetch it by 'dfrost backbone get {0}', or take 'frost-mini', which comes with dfrost",
                  source->name))
      .at(file.string());
}

}  // namespace dfrost::cli

#include "federation/portable_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "backbone/backbone_names.h"
#include "base/quote.h"
#include "config/toml_file.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

bool can_name_a_folder(const std::string& name) {
  const auto bad = [](char c) { return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return !name.empty() && name.size() <= 200 && name.front() != '.' && std::ranges::none_of(name, bad);
}

[[noreturn]] void refuse_file(const char* key, const std::string& hint) {
  throw Error(ErrorCode::invalid_argument,
              "a federation carries no files: what this one says, the other sites would not know", hint)
      .at(key);
}

// "models/deit_tiny.patch16.safetensors" → "deit_tiny-patch16". The fingerprint says which weights are meant;
// the name only helps people to find them.
fs::path backbone_name(const fs::path& path) {
  if (is_backbone_name(path)) return path;
  fs::path file = path.has_filename() ? path : path.parent_path();
  std::string name = fs::is_directory(file) ? file.filename().string() : file.stem().string();
  for (char& c : name) {
    if (c == '.') c = '-';
  }
  return name.empty() ? "backbone" : name;
}

}  // namespace

RunConfig portable_config(RunConfig config) {
  if (config.partition.kind == PartitionKind::file)
    refuse_file("partition.file",
                "take another partition.kind; sites with pictures of their own are not dealt any");
  if (config.network.topology.kind == TopologyKind::file)
    refuse_file("network.file", "take another network.topology, such as ring or regular");
  config.run.threads = 0;
  config.backbone.path = backbone_name(config.backbone.path);
  config.backbone.precision = resolve_precision(config.backbone.precision);
  config.data.root.clear();
  config.partition.file.clear();
  config.network.topology.file.clear();
  for (auto& domain : config.data.domains) {
    if (!can_name_a_folder(domain.name))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} cannot name a folder at other sites", quote_name(domain.name)),
                  "give the domain a name without '/' and without a dot in front")
          .at("data.domains");
    if (!domain.path.empty()) domain.path = domain.name;
  }
  return config;
}

void check_portable(const std::string& experiment) {
  const fs::path folder = "/data-of-any-site";
  const RunConfig config = parse_config(experiment, "the experiment of the federation", folder);
  bool fits = config.data.root.empty() && config.partition.file.empty() &&
              config.partition.kind != PartitionKind::file && config.network.topology.file.empty() &&
              config.network.topology.kind != TopologyKind::file && is_backbone_name(config.backbone.path) &&
              config.backbone.precision != Precision::automatic;
  for (const auto& domain : config.data.domains) {
    fits = fits && can_name_a_folder(domain.name) &&
           (domain.path.empty() || domain.path == folder / domain.name);
  }
  if (fits) return;
  throw Error(ErrorCode::failed_precondition,
              "its experiment names files of one machine, or leaves a choice to each",
              "'dfrost federation create' makes one that does not");
}

}  // namespace dfrost

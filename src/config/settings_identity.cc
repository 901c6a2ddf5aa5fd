#include "config/settings_identity.h"

#include <array>
#include <cstring>
#include <span>

#include "base/content_hash.h"
#include "config/key.h"

namespace dfrost {
namespace {

// Without what changes no result, and without where things lie.
RunConfig deciding_settings(RunConfig config, Precision precision) {
  // A target ε is one of all rounds, and picks the noise of the first.
  const std::size_t rounds = config.privacy.target_epsilon > 0 ? config.run.rounds : 0;
  config.run = {.name = "", .seed = config.run.seed, .rounds = rounds, .threads = 0, .checkpoint_every = 0};
  config.backbone.path.clear();
  config.backbone.precision = precision;
  config.data.root.clear();
  config.data.cache_mb = 0;
  for (auto& domain : config.data.domains) domain.path.clear();
  config.partition.file.clear();
  config.network.topology.file.clear();
  config.evaluate = {};
  config.diagnostics = {};
  return config;
}

// Values alone: to explain a key in other words changes no result.
std::string settings_text(const RunConfig& config) {
  std::string text;
  for (const auto& key : config_keys()) text += key.full_name() + "=" + toml_value(key, config) + "\n";
  if (config.merge.custom) text += "merge by " + config.merge.custom->name + "\n";
  return text;
}

}  // namespace

std::string deciding_settings_text(const RunConfig& config, Precision precision) {
  return settings_text(deciding_settings(config, precision));
}

RunId run_id(const RunConfig& config, Precision precision) {
  const std::string text = deciding_settings_text(config, precision);
  RunId id;
  // Two hashes of 64 bits: the second is of the text behind the first, so that they do not go together.
  ContentHash first;
  first.add(std::span(text));
  ContentHash second;
  const std::string digits = first.hex();
  second.add(std::span(digits));
  second.add(std::span(text));
  const std::array halves = {first.value(), second.value()};
  std::memcpy(id.bytes.data(), halves.data(), sizeof halves);
  return id;
}

std::optional<SettingChange> first_change(const RunConfig& before, const RunConfig& now,
                                          Precision precision) {
  const Precision used = before.backbone.precision;
  const auto old = deciding_settings(before, used == Precision::automatic ? precision : used);
  const auto current = deciding_settings(now, precision);
  for (const auto& key : config_keys()) {
    if (!same_value(key, old, current)) {
      return SettingChange{key.full_name(), toml_value(key, old), toml_value(key, current)};
    }
  }
  return std::nullopt;
}

}  // namespace dfrost

#include <fmt/format.h>

#include <functional>
#include <type_traits>

#include "base/file.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "config/config_access.h"
#include "config/key.h"
#include "config/methods.h"
#include "config/presets.h"
#include "config/toml_file.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

// From all settings so far, the first ones first, to the whole experiment.
using Reading = std::function<RunConfig(const ConfigSettings&)>;

std::vector<std::string> as_overrides(const ConfigSettings& settings) {
  std::vector<std::string> overrides;
  for (const auto& [key, value] : settings) overrides.push_back(key + "=" + value);
  return overrides;
}

Reading reading_of_text(std::string text, std::string place, std::filesystem::path folder) {
  return [=](const ConfigSettings& settings) {
    return parse_config(text, place, folder, as_overrides(settings));
  };
}

// As `dfrost config init NAME --method METHOD` writes it, the method being the last that the settings name.
Reading reading_of_preset(const ExperimentPreset& preset) {
  return [&preset](const ConfigSettings& settings) {
    std::string method = preset.config.method.name;
    for (const auto& [key, value] : settings) {
      if (key == "method.name") method = value;
    }
    return parse_config(to_toml(with_method(preset, method), TomlStyle::starter), preset.name,
                        std::filesystem::current_path(), as_overrides(settings));
  };
}

const ConfigKey& key_named(std::string_view name) {
  if (const ConfigKey* key = find_config_key(name)) return *key;
  std::vector<std::string> names;
  for (const auto& key : config_keys()) names.push_back(key.full_name());
  const auto near = nearest(name, names);
  throw Error(ErrorCode::invalid_argument, fmt::format("there is no key {}", quote_name(name)),
              near ? fmt::format("did you mean '{}'?", *near) : "known_config_keys() lists them");
}

ConfigValue value_of(const ConfigKey& key, const RunConfig& config) {
  return std::visit(
      [&](const auto& field) -> ConfigValue {
        using FieldType = std::remove_cvref_t<decltype(field)>;
        if constexpr (std::is_same_v<FieldType, WordField>) {
          return field.words.at(field.get(config));
        } else if constexpr (std::is_same_v<FieldType, DomainsField>) {
          return toml_value(key, config);
        } else if constexpr (std::is_same_v<FieldType, PathField>) {
          return field.place.of(config).string();
        } else {
          return field.place.of(config);
        }
      },
      key.field);
}

}  // namespace

struct Config::Contents {
  Reading read;
  ConfigSettings settings;
  RunConfig resolved;

  static std::shared_ptr<const Contents> make(Reading read, ConfigSettings settings) {
    RunConfig resolved = read(settings);
    return std::make_shared<const Contents>(
        Contents{std::move(read), std::move(settings), std::move(resolved)});
  }
};

Config::Config(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

Config Config::load(const std::filesystem::path& file, const ConfigSettings& settings) {
  return Config(Contents::make(
      reading_of_text(read_text_file(file), file.string(), std::filesystem::absolute(file).parent_path()),
      settings));
}

Config Config::parse(std::string_view toml, const ConfigSettings& settings) {
  return Config(Contents::make(
      reading_of_text(std::string(toml), "the experiment's text", std::filesystem::current_path()),
      settings));
}

Config Config::preset(std::string_view name, const ConfigSettings& settings) {
  return Config(Contents::make(reading_of_preset(experiment_preset(name)), settings));
}

void Config::set(const ConfigSettings& settings) {
  ConfigSettings all = contents_->settings;
  all.insert(all.end(), settings.begin(), settings.end());
  contents_ = Contents::make(contents_->read, std::move(all));
}

void Config::set(std::string_view key, std::string_view value) {
  set(ConfigSettings{{std::string(key), std::string(value)}});
}

ConfigValue Config::value(std::string_view key) const {
  return value_of(key_named(key), contents_->resolved);
}

std::string Config::get(std::string_view key) const {
  const ConfigValue held = value(key);
  if (const auto* text = std::get_if<std::string>(&held)) return *text;
  return toml_value(key_named(key), contents_->resolved);
}

std::string Config::to_toml() const { return dfrost::to_toml(contents_->resolved); }

const RunConfig& ConfigAccess::resolved(const Config& config) { return config.contents_->resolved; }

std::span<const ConfigKeyInfo> known_config_keys() {
  static const std::vector<ConfigKeyInfo> known = [] {
    std::vector<ConfigKeyInfo> infos;
    for (const auto& key : config_keys()) {
      infos.push_back({key.full_name(), key.comment, key.explanation, describe_values(key.field),
                       toml_value(key, RunConfig{})});
    }
    return infos;
  }();
  return known;
}

std::span<const MethodInfo> known_methods() {
  static const std::vector<MethodInfo> known = [] {
    std::vector<MethodInfo> infos;
    for (const auto& method : method_presets()) infos.push_back({method.name, method.title, method.summary});
    return infos;
  }();
  return known;
}

std::span<const PresetInfo> known_presets() {
  static const std::vector<PresetInfo> known = [] {
    std::vector<PresetInfo> infos;
    for (const auto& preset : experiment_presets()) infos.push_back({preset.name, preset.summary});
    return infos;
  }();
  return known;
}

}  // namespace dfrost

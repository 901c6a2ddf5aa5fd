// An experiment: what `dfrost run` reads from a TOML file, as keys with values. docs/reference/config.md has
// every key; a misspelt key, a value that a key does not take and values that do not fit together are Errors
// (invalid_argument) that say so. A value type: copies are cheap and independent.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dfrost {

// {"train.batch", "8"}: a key and its value as TOML; a text needs no quotes.
using ConfigSettings = std::vector<std::pair<std::string, std::string>>;

// A list of domains is the TOML text of it.
using ConfigValue = std::variant<bool, std::size_t, double, std::string, std::vector<std::size_t>>;

class Config {
 public:
  // Relative paths count from the file's folder; those of settings from the working folder.
  static Config load(const std::filesystem::path& file, const ConfigSettings& settings = {});
  static Config parse(std::string_view toml, const ConfigSettings& settings = {});
  // A whole experiment by name: see known_presets().
  static Config preset(std::string_view name, const ConfigSettings& settings = {});

  // Settings are applied together, so that two that only fit with each other may be given at once. On an
  // error nothing changes. method.name brings the method's own values for keys that nothing else sets.
  void set(const ConfigSettings& settings);
  void set(std::string_view key, std::string_view value);

  // As set() takes it.
  std::string get(std::string_view key) const;
  ConfigValue value(std::string_view key) const;

  // Every key with its value and a comment: reads back to the same experiment.
  std::string to_toml() const;

 private:
  friend struct ConfigAccess;
  struct Contents;
  explicit Config(std::shared_ptr<const Contents> contents);
  std::shared_ptr<const Contents> contents_;
};

struct ConfigKeyInfo {
  std::string name;           // "train.batch"
  std::string comment;        // one line
  std::string explanation;    // a few sentences; may be empty
  std::string values;         // what it takes: "a whole number from 1 to 65536"
  std::string default_value;  // as TOML; a method may bring another
};

struct MethodInfo {
  std::string name;   // for method.name
  std::string title;  // as papers write it
  std::string summary;
};

struct PresetInfo {
  std::string name;
  std::string summary;
};

std::span<const ConfigKeyInfo> known_config_keys();
std::span<const MethodInfo> known_methods();
std::span<const PresetInfo> known_presets();

}  // namespace dfrost

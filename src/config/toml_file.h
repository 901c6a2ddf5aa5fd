// An experiment's TOML file ↔ RunConfig. Every error says file, line, column and key; an unknown key gets
// "did you mean". Order does not matter: what method.name and a named list of domains stand for comes first,
// then the keys of the file, then the overrides. What is written reads back to the same values, bit for bit.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace dfrost {

// How much of a file must fit together. Each value is checked in any case.
enum class ConfigScope {
  experiment,  // all of it
  data,        // [data] and [partition]: a federation too small for its network can still be looked at
};

// `overrides` as --set takes them: "train.batch=8", the value as TOML or a bare word. Relative paths count
// from the file's folder, those of overrides from the working folder. The result is valid.
RunConfig load_config(const std::filesystem::path& path, std::span<const std::string> overrides = {},
                      ConfigScope scope = ConfigScope::experiment);

// The same from text; `place` names it in errors, `folder` is where its relative paths start.
RunConfig parse_config(std::string_view text, const std::string& place, const std::filesystem::path& folder,
                       std::span<const std::string> overrides = {},
                       ConfigScope scope = ConfigScope::experiment);

// A value that is laid over those of a file, and over the layers before it.
struct ConfigLayer {
  std::string text;              // "train.batch=8", as an override
  std::string place;             // where it stands, for errors
  std::filesystem::path folder;  // where its relative paths start
};
std::vector<ConfigLayer> layers_of(std::span<const std::string> overrides);

// The same with values out of several places.
RunConfig parse_layered_config(std::string_view text, const std::string& place,
                               const std::filesystem::path& folder, std::span<const ConfigLayer> layers,
                               ConfigScope scope = ConfigScope::experiment);

enum class TomlStyle {
  resolved,  // every key
  starter,   // to be edited: what is neither a main key nor changed is commented out, so that method.name
             // rules
  own,       // what is not as its method has it, and nothing else
};
std::string to_toml(const RunConfig& config, TomlStyle style = TomlStyle::resolved);

}  // namespace dfrost

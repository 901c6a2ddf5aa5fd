// A run's config.toml as plain values by key, without knowing what they mean: a config of another version
// can be read too. Which runs are the same experiment is decided on these.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "report/json_lines.h"

namespace dfrost {

using Settings = std::map<std::string, Json>;  // "train.batch" → 16

// Nothing where the text is not TOML.
std::optional<Settings> parse_settings(const std::string& toml);

// Without what does not change an experiment: its name and seed, threads, checkpoints, diagnostics, and the
// folders that data and backbone lie in.
Settings experiment_of(const Settings& settings);

// The text, number or flag at a key, and nothing where there is none of that kind.
std::optional<std::string> text_at(const Settings& settings, const std::string& key);
std::optional<double> number_at(const Settings& settings, const std::string& key);

}  // namespace dfrost

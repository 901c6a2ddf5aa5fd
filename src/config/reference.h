// What a reader may want to know of the keys of an experiment's file, all of it from the table of keys: one
// key explained, and the whole reference page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "config/key.h"

namespace dfrost {

// The methods whose preset is not the usual default, each with its value: {{"d-psgd", "1"}, …}.
std::vector<std::pair<std::string, std::string>> method_defaults(const ConfigKey& key);

// A few lines of plain text.
std::string explain_key(const ConfigKey& key);
nlohmann::ordered_json explain_key_json(const ConfigKey& key);

// docs/reference/config.md.
std::string config_reference_page();

// All values, by section and key.
nlohmann::ordered_json to_json(const RunConfig& config);

}  // namespace dfrost

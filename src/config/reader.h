// One key's value from a TOML node into a RunConfig, checked.
#pragma once

#include <toml++/toml.h>

#include <filesystem>

#include "config/key.h"

namespace dfrost {

// Throws (invalid_argument, without a place) where the node is not what the key takes. Relative paths count
// from `folder`, an absolute path.
void read_value(const ConfigKey& key, const toml::node& node, const std::filesystem::path& folder,
                RunConfig& config);

}  // namespace dfrost

// about.json: what a run is, written when it starts and not changed after: where it came from, what it runs
// on, and who holds what. docs/reference/records.md has every field.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "dfrost/backbone.h"
#include "run/config.h"
#include "run/federation.h"

namespace dfrost {

// `family`: whose names the checkpoint's tensors have. `command`: what the user typed, empty where unknown.
nlohmann::ordered_json about_json(const RunConfig& config, const Federation& federation,
                                  const Backbone& backbone, std::string_view family,
                                  const std::string& command);

}  // namespace dfrost

// about.json: what a run is: where it came from, what it runs on, and who holds what. Written when it starts
// and when it goes on, each time by the command that makes all of it. docs/reference/records.md has every
// field.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "dfrost/backbone.h"
#include "run/config.h"
#include "run/federation.h"

namespace dfrost {

// `family`: whose names the checkpoint's tensors have. `command`: what the user typed, empty where unknown.
nlohmann::ordered_json about_json(const RunConfig& config, const Federation& federation,
                                  const Backbone& backbone, std::string_view family,
                                  const std::string& command);

// Makes `about` that of a run which goes on after a round: it keeps the start that `before`, the text of its
// about.json until now, tells of, and lists the resumption.
void continue_about(std::string_view before, std::size_t after_round, nlohmann::ordered_json& about);

// Throws (failed_precondition) where a domain's test pictures are others than `about`, the text of a run's
// about.json, tells of: the run may have been trained on some of them. What it does not tell is not checked.
void require_same_test_pictures(std::string_view about, const PooledSet& pool);

}  // namespace dfrost

// The adapters that a run leaves: one file per client and one of the network model, each with its card, and
// the network model's card once more as card.json, for people.
#pragma once

#include <filesystem>
#include <string>

#include "config/config.h"
#include "data/preprocess.h"
#include "run/simulation.h"

namespace dfrost {

// `weights`: the backbone's weights_fingerprint().
void write_adapters(const std::filesystem::path& folder, const Simulation& federation,
                    const RunConfig& config, const Backbone& backbone, const Preprocessing& preprocessing,
                    const std::string& weights);

}  // namespace dfrost

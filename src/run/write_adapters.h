// The adapters that a run leaves: one file per client and one of the network model, each with its card, and
// the network model's card once more as card.json, for people.
#pragma once

#include <filesystem>
#include <string>

#include "adapter/adapter_file.h"
#include "config/config.h"
#include "data/corpus.h"
#include "data/preprocess.h"
#include "run/simulation.h"

namespace dfrost {

// What all of a run's adapters have in common. `weights`: the backbone's weights_fingerprint().
AdapterCard adapter_card(const RunConfig& config, const Corpus& corpus, const Backbone& backbone,
                         const Preprocessing& preprocessing, const std::string& weights);

// "client-007".
std::string adapter_name(ClientId client);
// FOLDER/NAME.safetensors, as it is after a round.
void write_node_adapter(const std::filesystem::path& folder, AdapterCard card, const std::string& name,
                        std::size_t round, const Node& node);

// Those of all clients, and of the network model.
void write_adapters(const std::filesystem::path& folder, const AdapterCard& card,
                    const Simulation& federation);

}  // namespace dfrost

// What every driver makes of the settings in the same way, so that a simulated client and a real one are the
// same: who holds what, the node they begin with, when it is scored. Functions of the settings and the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "config/config.h"
#include "data/corpus.h"
#include "dfrost/backbone.h"
#include "partition/partition.h"
#include "run/node.h"

namespace dfrost {

// Of the memory for patch embeddings, a fifth is for test pictures: they are fewer, and come up less often.
std::size_t train_cache_bytes(const RunConfig& config);
std::size_t test_cache_bytes(const RunConfig& config);
// Beside it, for the features of either: none where prompts move, since no features come twice then.
std::size_t feature_cache_bytes(const RunConfig& config);

// Who holds which training picture; with Cooperation::central one client holds all.
Partition partition_for(const RunConfig& config, const Corpus& corpus);

// A node as it is before its first round. `drawer`: the client whose own draw its first prompts are, where
// they are not what prompts.init says.
Node make_node(const RunConfig& config, const Geometry& geometry, std::size_t classes, ClientId id,
               const PromptOptions& prompts, std::optional<std::uint64_t> drawer = std::nullopt);

// The first `per_domain` clients of each domain: whose merges are kept to be looked at.
std::vector<bool> viewed_clients(const Partition& partition, const Corpus& corpus, std::size_t per_domain);

bool is_evaluated(const RunConfig& config, std::size_t round);

}  // namespace dfrost

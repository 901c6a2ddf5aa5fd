// A run's state on disk after a round: the federation's state, the totals so far, and what they belong to, in
// one safetensors file with a checksum, written atomically. The last two are kept, so that one that cannot be
// read costs a round, not the run. Tensors `values` and, only where optimizers keep what they remember,
// `optimizer`, with each client's steps in the metadata: laid out as FederationState says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "records/record.h"

namespace dfrost {

// All there is to save of a federation beside its round, as flat lists in the order of the clients: random
// streams are named by the round, and the network model follows from the clients.
struct FederationState {
  std::vector<float> values;  // trained, of all clients
  // What optimizers keep from round to round (train.optimizer_state); empty where they start fresh.
  std::vector<std::uint64_t> optimizer_steps;  // of each client
  std::vector<float> optimizer_values;  // of each client that has taken any: its first, then its second

  bool operator==(const FederationState&) const = default;
};

struct Savepoint {
  std::size_t round = 0;
  std::string fingerprint;  // of what decides its values: config, backbone, data
  RunTotals totals;
  FederationState state;
};

void write_savepoint(const std::filesystem::path& folder, const Savepoint& checkpoint);

struct FoundSavepoint {
  std::optional<Savepoint> checkpoint;  // none: there is none that can be read
  std::vector<std::string> damaged;     // newer ones that could not be, and why
};
FoundSavepoint newest_savepoint(const std::filesystem::path& folder);

}  // namespace dfrost

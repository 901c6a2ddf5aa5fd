// A run's state on disk after a round: the federation's state, the totals so far, and what they belong to, in
// one safetensors file with a checksum, written atomically. The last two are kept, so that one that cannot be
// read costs a round, not the run. Tensors `values` and, only where optimizers keep what they remember,
// `optimizer`, with each client's steps in the metadata: laid out as run/federation_state.h says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/federation_state.h"
#include "run/record.h"

namespace dfrost {

struct RunCheckpoint {
  std::size_t round = 0;
  std::string fingerprint;  // of what decides its values: config, backbone, data
  RunTotals totals;
  FederationState state;
};

void write_checkpoint(const std::filesystem::path& folder, const RunCheckpoint& checkpoint);

struct FoundCheckpoint {
  std::optional<RunCheckpoint> checkpoint;  // none: there is none that can be read
  std::vector<std::string> damaged;         // newer ones that could not be, and why
};
FoundCheckpoint newest_checkpoint(const std::filesystem::path& folder);

}  // namespace dfrost

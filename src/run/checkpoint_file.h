// A run's state on disk after a round: all clients' values, the totals so far, and what they belong to, in
// one safetensors file with a checksum, written atomically. The last two are kept, so that one that cannot be
// read costs a round, not the run. Optimizers start fresh each round and random streams are named by the
// round: nothing else needs saving.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/record.h"

namespace dfrost {

struct RunCheckpoint {
  std::size_t round = 0;
  std::string fingerprint;  // of what decides its values: config, backbone, data
  RunTotals totals;
  std::vector<float> values;
};

void write_checkpoint(const std::filesystem::path& folder, const RunCheckpoint& checkpoint);

struct FoundCheckpoint {
  std::optional<RunCheckpoint> checkpoint;  // none: there is none that can be read
  std::vector<std::string> damaged;         // newer ones that could not be, and why
};
FoundCheckpoint newest_checkpoint(const std::filesystem::path& folder);

}  // namespace dfrost

// A run's state on disk after a round: the federation's state, the totals so far, and what they belong to, in
// one safetensors file with a checksum, written atomically. The last two are kept, so that one that cannot be
// read costs a round, not the run. Tensors `values` and, only where optimizers keep what they remember,
// `optimizer`, with each client's steps in the metadata: laid out as SavedNodes says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "records/record.h"

namespace dfrost {

// What a node's tensors are called and how large they are.
struct SavedTensor {
  std::string name;
  Shape shape;

  bool operator==(const SavedTensor&) const = default;
};

// Nodes that stand one after the other and hold tensors of the same names and shapes.
struct SavedLayout {
  std::size_t nodes = 0;
  std::vector<SavedTensor> state;
  std::vector<SavedTensor> memory;

  bool operator==(const SavedLayout&) const = default;
};

// All there is to save of a federation beside its round, as flat lists in the order of the nodes: random
// streams are named by the round, and the network model follows from the clients.
struct SavedNodes {
  std::vector<SavedLayout> layouts = {};
  std::vector<float> values = {};  // of all states
  std::vector<float> memory = {};  // of all memories
  // What optimizers keep from round to round (train.optimizer_state); empty where they start fresh.
  std::vector<std::uint64_t> optimizer_steps = {};  // of each node
  std::vector<std::uint64_t> optimizer_rests = {};  // of these, with prompts at rest; empty: none of any node
  std::vector<float> optimizer_values = {};  // of each node that has taken any: its first, then its second

  bool operator==(const SavedNodes&) const = default;
};

inline constexpr int kSavepointFormat = 2;  // raised when an older reader would misread one

struct Savepoint {
  std::size_t round = 0;
  std::string fingerprint;  // of what decides its values: config, backbone, data
  RunTotals totals;
  SavedNodes nodes;
};

void write_savepoint(const std::filesystem::path& folder, const Savepoint& checkpoint);

struct FoundSavepoint {
  std::optional<Savepoint> checkpoint;  // none: there is none that can be read
  std::vector<std::string> damaged;     // newer ones that could not be, and why
};
FoundSavepoint newest_savepoint(const std::filesystem::path& folder);

}  // namespace dfrost

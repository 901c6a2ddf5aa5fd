// A node: whoever takes part in a federation. A client, with data of its own, or a server, without. It holds
// named tensors of any size: a state, which it trains, sends and merges; a memory, which stays at home from
// round to round and is saved with the run; and a draft, which one step of a round leaves for a later one and
// which is gone at its end.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "network/graph.h"
#include "train/client_state.h"

namespace dfrost {

enum class NodeRole { client, server };

struct NodeTensor {
  Shape shape;
  std::vector<float> values;

  bool operator==(const NodeTensor&) const = default;
};
using NodeTensors = std::map<std::string, NodeTensor, std::less<>>;

struct Node {
  ClientId id = 0;
  NodeRole role = NodeRole::client;
  AdapterOptions adapter;  // its own number of prompts
  ClientState state;
  NodeTensors memory = {};
  NodeTensors draft = {};
  // Prompts that any node of the run may hold, and so the most that a letter may bring; 0: any number.
  std::size_t most_prompts = 0;
};

}  // namespace dfrost

// What hostile clients say instead of their state (kinds of config/attack.h): functions of what such a client
// sees, which is no more than a peer of a real federation does. What is made can always be sent: the shapes
// that receivers expect, finite, no larger than a message may be; masses of classes stay honest but for a
// crowd's.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/random.h"
#include "config/attack.h"
#include "network/graph.h"
#include "run/node.h"

namespace dfrost {

struct SeenLetter {
  ClientId from = 0;
  NodeTensors tensors;
};

struct AttackerSight {
  NodeTensors own;                    // what it would send if it were honest
  NodeTensors before;                 // its state when the round began
  NodeTensors began;                  // and when the round before did; empty in the first
  std::vector<SeenLetter> seen = {};  // what its neighbours sent in the round before, by their number
  std::size_t most_prompts = 0;       // that a letter may hold; 0: any number
  bool orders_prompts = false;        // prompts are merged by index; else their order means nothing
};

// To all neighbours alike. Kinds that poison data alone scale their update by `strength`.
NodeTensors forge(AttackKind kind, const AttackerSight& sight, double strength, RandomStream random);

// AttackKind::dissensus: to the sender of seen[to], what it sent itself, moved on from the mean of all others
// by `strength` times the way between them.
NodeTensors forge_dissensus(const AttackerSight& sight, std::size_t to, double strength);

// The other's prompts, and their keys, in the order of one's own: each own prompt's share of the transport
// plan between the two sets. As they are where they are of one order already.
NodeTensors aligned(const NodeTensors& other, const NodeTensors& own, bool orders_prompts);

}  // namespace dfrost

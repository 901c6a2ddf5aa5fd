// What one node tells of its round, for whoever keeps records. Nothing in it decides what a node does next.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dfrost/merge.h"
#include "measure/merge_view.h"
#include "network/graph.h"

namespace dfrost {

struct TrainOutcome {
  double loss = 0;  // of the last epoch
  std::size_t images = 0;
  bool diverged = false;  // the update was not finite or beyond all measure, and the client went back
};

// Whom a merge did not take at their word.
struct DefenceOutcome {
  std::vector<ClientId> rejected;         // not believed at all
  std::vector<ClientId> clipped_prompts;  // moved towards the client's own
  std::vector<ClientId> clipped_heads;
  std::vector<ClientId> skipped_heads;  // further from the client's own than the others
  double softened_mass = 0;             // that geometric medians took from rows far away
};

// What a sender's prompts got of the mass in a merge's plan.
struct SenderMass {
  ClientId sender = 0;
  double mass = 0;
};

struct MergeOutcome {
  bool merged = false;  // false: nobody to merge with
  double off_index_mass = 0;
  double error = 0;                 // W₂² between the neighbourhood and its summary
  std::size_t dead_prompts = 0;     // that had no mass in some step
  std::size_t dropped_prompts = 0;  // beyond merge.pool_limit
  TheoremCheck theorem = {};
  std::optional<MergeView> view = {};
  std::vector<SenderMass> senders = {};  // the client itself first
  DefenceOutcome defence = {};
  double merge_seconds = 0;    // the merge alone,
  double measure_seconds = 0;  // and what is measured of it: the error, the view
};

// A step along a tangent kernel (method.round = "ntk").
struct KernelOutcome {
  std::size_t pictures = 0;     // whose Jacobians there were
  std::size_t steps = 0;        // of ntk.steps
  std::size_t evaluations = 0;  // products with the kernel that the solver took
};

// Whose letters of one phase were there and believed, and whose were not.
struct PhaseArrivals {
  std::vector<ClientId> arrived;
  struct Missing {
    ClientId sender = 0;
    std::string why;  // "deadline", "gone", "refused", or what was wrong with the letter
  };
  std::vector<Missing> missing;
};

struct NodeReport {
  ClientId node = 0;
  TrainOutcome train = {};
  MergeOutcome merge = {};
  std::optional<KernelOutcome> kernel = {};
  std::size_t refused = 0, missing = 0;      // letters, over all phases
  double exchange_seconds = 0;               // receiving and checking them
  std::vector<PhaseArrivals> arrivals = {};  // phase by phase
};

}  // namespace dfrost

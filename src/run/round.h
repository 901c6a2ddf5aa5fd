// The order of a round, written once: phase by phase, every node of this process does its work, sends its
// letters, waits for those of its neighbours and absorbs them. A simulation holds all nodes, a rank of a
// cluster some, a peer one; they differ in the exchanges they pass and in how long they wait. Nodes go side
// by side on all threads, and no result depends on their order.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "network/exchange.h"
#include "network/letter_pool.h"
#include "run/method.h"
#include "run/node.h"
#include "run/node_report.h"

namespace dfrost {

// Calls come one at a time, from any thread.
struct RoundProgress {
  std::string_view stage;  // "train", "merge", "evaluate"
  std::size_t done = 0;    // nodes
  std::size_t total = 0;
  std::size_t images = 0;  // seen in this stage so far
};
using RoundProgressCallback = std::function<void(const RoundProgress&)>;

// What a node has beside what it holds.
struct Equipment {
  const SampleSource* samples = nullptr;  // null: a node without data
  Exchange* exchange = nullptr;
};

// The nodes that live in this process, and what they share.
struct Residents {
  std::span<Node> nodes;
  std::span<const Equipment> equipment;  // of each node
  ThreadPool& threads;
  std::span<Workspace> workspaces;  // one per thread
  // Called, by the thread that runs the round, when all letters of a phase are handed over: where a wire
  // wants one thread, it carries them now. What came before it returns is there for all that receive.
  std::function<void(Moment)> carry = {};
  // Where memory of letters comes from; who keeps it from round to round uses the same again.
  LetterPool letters = {};
};

struct RoundOutcome {
  std::vector<NodeReport> nodes;  // of each resident; absent ones have an empty one
  double work_seconds = 0;        // wall clock, all nodes, over all phases
  double send_seconds = 0;
  double absorb_seconds = 0;  // receive, merge and measure, side by side
};

// How long a phase waits for its letters, from the moment that this node's own are sent.
using Patience = std::function<Exchange::Deadline()>;
inline Exchange::Deadline no_patience() { return Exchange::kNoWaiting; }

// Takes the residents that take part in the round through it. An exception leaves them unusable.
RoundOutcome run_round(const Method& method, const RoundPlan& plan, const RunId& run,
                       const Residents& residents, const Patience& patience,
                       const RoundProgressCallback& progress);

// The same with what the method does before its first round; `plan` is RoundPlanner::plan_preparation().
RoundOutcome run_preparation(const Method& method, const RoundPlan& plan, const RunId& run,
                             const Residents& residents, const Patience& patience,
                             const RoundProgressCallback& progress);
// A single phase of it.
RoundOutcome run_preparation_phase(const Method& method, std::size_t number, const RoundPlan& plan,
                                   const RunId& run, const Residents& residents, const Patience& patience,
                                   const RoundProgressCallback& progress);

}  // namespace dfrost

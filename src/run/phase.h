// A method is a small number of phases. In each a node does local work, says which letters go to whom, and,
// when its inbox of that phase is there, absorbs it. A phase knows its own options and nothing of other
// nodes, of threads or of how letters travel: run/round.h takes nodes through it, the same in a simulation, a
// cluster and a peer. Phases are shared by all nodes and threads, and keep nothing: what a node remembers is
// in the node.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "network/letter.h"
#include "network/message.h"
#include "run/inbox.h"
#include "run/node.h"
#include "run/node_report.h"
#include "run/round_plan.h"
#include "train/sample_source.h"
#include "train/training_step.h"

namespace dfrost {

// What a node works with.
struct Workplace {
  const SampleSource* samples;  // null: a node without data
  Workspace& workspace;
};

// The same tensors, to each of these.
struct Letter {
  std::vector<ClientId> to;
  std::vector<FloatTensor> tensors;  // point into the node, or into `kept`
  std::shared_ptr<const NodeTensors> kept = {};
};

class Phase {
 public:
  virtual ~Phase() = default;

  // For people who watch: what nodes do before and after the letters.
  virtual std::string_view work_stage() const { return "train"; }
  virtual std::string_view absorb_stage() const { return "merge"; }

  // Whether nodes of this role write letters in this phase; their neighbours wait for one then.
  virtual bool speaks(NodeRole) const { return true; }
  virtual LetterKind kind() const { return LetterKind::state; }

  virtual void work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const = 0;
  virtual std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const = 0;
  // What a letter to this node must hold to be believed.
  virtual std::vector<TensorPattern> expected(const Node& node) const = 0;
  virtual void absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const = 0;
};

}  // namespace dfrost

// Who takes all nodes of a federation through its rounds, for an observer who sees them after each: the
// threads of this process, or the ranks of a cluster. What comes out is the same, byte for byte.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "records/about.h"
#include "records/savepoint_file.h"
#include "run/groundwork.h"
#include "run/workshop.h"

namespace dfrost {

class Workforce {
 public:
  virtual ~Workforce() = default;

  // In the order of their ids, as they are after the last round.
  virtual const std::vector<Node>& nodes() const = 0;
  // As another process left them. Throws (data_loss) when they are not of nodes such as these.
  virtual void restore(const SavedNodes& saved) = 0;

  // An exception leaves the nodes unusable.
  virtual WorkDone run_round(const RoundPlan& plan, const RoundProgressCallback& progress) = 0;
  virtual WorkDone prepare(const RoundProgressCallback& progress) = 0;

  virtual std::vector<Evaluation> evaluate(std::size_t models, const ModelAt& model_at,
                                           const RoundProgressCallback& progress) = 0;

  // Of this process, for what the observer computes.
  virtual Workshop& workshop() = 0;
  ThreadPool& threads() { return workshop().threads(); }
  // What each process does; empty where there is one alone.
  virtual std::vector<RankShare> shares() const { return {}; }
  // What may be wrong with them, and what to do about it.
  struct Doubt {
    std::string what, hint;
  };
  virtual std::vector<Doubt> doubts() const { return {}; }
};

// The groundwork outlives what is made.
using MakeWorkforce = std::function<std::unique_ptr<Workforce>(const Groundwork&)>;

// All nodes in this process.
std::unique_ptr<Workforce> make_local_workforce(const Groundwork& ground);

}  // namespace dfrost

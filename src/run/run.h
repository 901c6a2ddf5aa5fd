// `dfrost run` without its screen: opens data and backbone, runs the rounds that are missing, and leaves in
// the run's folder config.toml, about.json, metrics.jsonl, merges.jsonl, summary.json, checkpoints/ and
// adapter/. Killed at any moment, it goes on from the last checkpoint and ends with the same bytes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "backbone/weights.h"
#include "config/config.h"
#include "dfrost/run.h"
#include "records/record.h"
#include "run/run_notes.h"
#include "run/simulation.h"
#include "run/workforce.h"

namespace dfrost {

// Who watches. Calls come one at a time, from any thread.
class RunObserver : public RunNotes {
 public:
  virtual void on_ready(const RunConfig& config, const Simulation& federation, const Backbone& backbone) = 0;
  // These may throw to end the run; with ErrorCode::cancelled all rounds that are done are saved first.
  virtual void on_progress(const RoundProgress& progress) = 0;
  virtual void on_round(const RoundRecord& record) = 0;
};

struct RunResult {
  RoundRecord last;  // with the last evaluation
  RunTotals totals;
};

// Where a run takes place: in this process alone, or in several of a cluster of which this one leads.
class RunPlace {
 public:
  virtual ~RunPlace() = default;
  // Called once, after the backbone was opened. `weights`: its weights_fingerprint().
  virtual std::unique_ptr<Backbone> make_model(const WeightSource& source, const BackboneOptions& options,
                                               const std::string& weights);
  // Called once, after data and model are there and before anything is written; `weights` again.
  virtual std::unique_ptr<Workforce> gather(const Groundwork& ground, const std::string& weights) = 0;
  // While rounds are run: what saves, at any moment and from any thread, all that are done, and returns the
  // last one that is saved, 0 where there is none. Empty: it is over.
  virtual void can_save(const std::function<std::size_t()>& /*save*/) {}
};

// The options name a folder and a command.
RunResult run_experiment(const RunConfig& config, const RunOptions& options, RunObserver& observer);
RunResult run_experiment(const RunConfig& config, const RunOptions& options, RunObserver& observer,
                         RunPlace& place);

}  // namespace dfrost

// `dfrost run` without its screen: opens data and backbone, runs the rounds that are missing, and leaves in
// the run's folder config.toml, about.json, metrics.jsonl, merges.jsonl, summary.json, checkpoints/ and
// adapter/. Killed at any moment, it goes on from the last checkpoint and ends with the same bytes.
#pragma once

#include <string>

#include "config/config.h"
#include "dfrost/run.h"
#include "records/record.h"
#include "run/run_notes.h"
#include "run/simulation.h"

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

// The options name a folder and a command.
RunResult run_experiment(const RunConfig& config, const RunOptions& options, RunObserver& observer);

}  // namespace dfrost

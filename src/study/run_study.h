// Runs of a plan, one after another, each with all threads: what was stopped goes on, and one that fails does
// not keep the others from running. Killed at any moment, the same call goes on where it was.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/run.h"
#include "study/study_plan.h"

namespace dfrost {

struct RunFailure {
  std::string folder;
  std::string what;
};

// Who watches; calls as those of a run, which come between on_run() and on_run_end().
class StudyObserver : public RunObserver {
 public:
  virtual void on_run(std::size_t run) = 0;
  virtual void on_run_end(std::size_t run, const std::string& failure) = 0;  // empty: it came to its end
};

struct StudyOutcome {
  std::vector<RunFailure> failures;
  std::size_t not_begun = 0;  // for want of time
};

// `to_do`: which of the plan's, in this order. Once `time` is over no further run begins; one that is under
// way comes to its end. Throws (cancelled) what an observer threw to end it; everything else that a run
// throws is told and returned.
StudyOutcome run_study(const StudyPlan& plan, std::span<const std::size_t> to_do,
                       const std::filesystem::path& runs, StudyObserver& observer,
                       std::optional<std::chrono::duration<double>> time = std::nullopt);

}  // namespace dfrost

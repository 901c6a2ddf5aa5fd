// The runs of a plan, one after another, each with all threads: what is done already is left alone, what was
// stopped goes on, and one that fails does not keep the others from running. Killed at any moment, the same
// call goes on where it was.
#pragma once

#include <filesystem>
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

// Throws (cancelled) what an observer threw to end it; everything else that a run throws is told and
// returned.
std::vector<RunFailure> run_study(const StudyPlan& plan, const std::filesystem::path& runs,
                                  StudyObserver& observer);

}  // namespace dfrost

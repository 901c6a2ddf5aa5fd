// Figures that earlier results kept of runs whose folders need not be there any more: a study goes on from
// them, in another week or on another machine, and runs only what they lack. A run is known by the name of
// its folder, which its settings and seed decide.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "study/study_needs.h"
#include "study/study_results.h"

namespace dfrost {

class KeptResults {
 public:
  // What the results in a file say of runs of a plan. Returns why they are passed over; empty where they are
  // not. Throws (data_loss) where the file holds none.
  std::string take(const std::filesystem::path& file, const StudyPlan& plan);

  // What was kept of a run, if that is all that `study` asks of it; null otherwise. What was taken first
  // counts.
  const CellResult* find(const std::string& run, const Study& study) const;
  // Whether anything was kept of it.
  bool knows(const std::string& run) const { return runs_.contains(run); }

 private:
  struct Kept {
    CellResult cell;
    WantedFigures looked_for;  // what is not among its figures was not measured
  };
  std::map<std::string, std::vector<Kept>> runs_;  // by folder
};

// How far a run is, by its folder below `runs` or by what was kept of it.
RunState state_of(const PlannedRun& run, const Study& study, const std::filesystem::path& runs,
                  const KeptResults& kept);

// Those of a plan's runs that are not done, seed by seed, so that a study that is stopped has whole seeds.
std::vector<std::size_t> runs_to_do(const Study& study, const StudyPlan& plan,
                                    const std::filesystem::path& runs, const KeptResults& kept);

}  // namespace dfrost

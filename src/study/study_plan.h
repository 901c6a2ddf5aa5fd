// A study at one scale → its runs: every combination of its axes under every seed, with what it is to be run
// with. Combinations whose settings come out the same share one run, also between studies that keep their
// runs in one folder. Deterministic: a run's folder is named by its settings.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "study/study_file.h"

namespace dfrost {

// What the user chooses of a study.
struct StudyChoice {
  std::string scale = {};                   // empty: the study's first
  std::vector<Seed> seeds = {};             // empty: those of the scale, or of the study
  std::vector<std::string> overrides = {};  // as --set, over everything
};

struct PlannedRun {
  std::string folder;  // its name below the folder of runs
  RunConfig config;    // run.name is that
};

struct PlannedCell {
  std::vector<std::size_t> values;  // one of each axis
  Seed seed = 0;
  std::size_t run = 0;  // which of the plan's
};

struct StudyPlan {
  std::string scale;        // its name; empty where the study has none
  std::string scale_words;  // what is reduced
  std::vector<Seed> seeds;
  std::vector<std::string> overrides;
  std::vector<PlannedRun> runs;
  std::vector<PlannedCell> cells;  // axis by axis, the last one fastest; seeds fastest of all
};

// Throws where a combination is no valid experiment, at the key that says so.
StudyPlan plan_study(const Study& study, const StudyChoice& choice);

// Whether a selection takes in a combination.
bool selects(const Study& study, const StudySelection& selection, std::span<const std::size_t> values);

// What each run is called: the first of its combinations, and its seed.
std::vector<std::string> run_labels(const Study& study, const StudyPlan& plan);

// "D-FROST, Dirichlet 0.1"
std::string describe(const Study& study, std::span<const std::size_t> values);

}  // namespace dfrost

// What a study's runs came to, small enough to be kept: for every combination and seed the figures that its
// tables, figures and claims need. results.json holds it with the study's own text, so that page and tables
// can be made again from that file alone.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "study/run_study.h"
#include "study/study_network.h"
#include "study/study_plan.h"

namespace dfrost {

struct CellResult {
  std::vector<std::size_t> values;  // one of each axis
  Seed seed = 0;
  std::string folder;
  bool done = false;
  std::string failure;                    // why not, where it was tried
  std::map<std::string, double> figures;  // the run's last; what was not measured is absent
  std::map<std::string, std::vector<std::pair<std::size_t, double>>> curves;  // by round
  double seconds = 0;                        // that the run took, all rounds together
  std::string precision = {};                // that it computed in, which "auto" leaves to the machine
  std::optional<StudyNetwork> network = {};  // where a table of the study draws it
};

// What a study asks of a run.
struct WantedFigures {
  std::set<std::string> last;    // their value at the end
  std::set<std::string> curves;  // and at every round
};
WantedFigures wanted_by(const Study& study);

struct StudyResults {
  Study study;
  std::string scale, scale_words;
  std::vector<Seed> seeds;
  std::string command;  // that makes them
  std::vector<CellResult> cells;
  std::string version = {};  // of the dfrost that ran them; empty where an old file does not say

  // The cell of a combination and a seed, if it is done.
  const CellResult* find(std::span<const std::size_t> values, Seed seed) const;
  // Of runs, each once however many cells it fills.
  double seconds() const;
  std::size_t runs() const;
  // All that runs computed in; more than one where machines of several kinds made them.
  std::set<std::string> precisions() const;
};

class KeptResults;

// From the folders of runs, and where there is none from what was kept.
StudyResults collect_results(const Study& study, const StudyPlan& plan, const std::filesystem::path& runs,
                             const KeptResults& kept, std::span<const RunFailure> failures,
                             std::string command);

nlohmann::ordered_json to_json(const StudyResults& results);
// Throws (data_loss) where it is none.
StudyResults results_from_json(const nlohmann::ordered_json& json, const std::string& place);
StudyResults read_results(const std::filesystem::path& file);

}  // namespace dfrost

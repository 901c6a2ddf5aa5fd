// A study to look at, and results that no run had to be made for.
#pragma once

#include <string>
#include <vector>

#include "study/study_results.h"

namespace dfrost::test {

inline constexpr const char* kMergesStudy = R"(
title = "Which merge?"
seeds = [1, 2, 3, 4]
[base]
preset = "demo"
set = {run.rounds = 3, evaluate.every = 1}
[[axis]]
name = "merge"
title = "Merge"
values = [
  {name = "ot", label = "D-FROST & co", set = {merge.kind = "ot"}},
  {name = "average", label = "by <index>", set = {merge.kind = "average"}, at = {minutes = {train.batch = 2}}},
]
[[axis]]
name = "rate"
key = "train.learning_rate"
values = [0.01, 0.1]
[[scale]]
name = "minutes"
words = "two rounds"
seeds = [1, 2]
set = {run.rounds = 2, train.batch = 8}
[[scale]]
name = "full"
words = "nothing is reduced"
[[table]]
name = "accuracy"
title = "Accuracy"
rows = "merge"
columns = "rate"
figures = ["accuracy_masked", "consensus_error"]
baseline = {merge = "average"}
reference = {values = [["ot", "0.1", 44.5]]}
[[figure]]
name = "curves"
y = "accuracy_masked"
lines = ["merge"]
where = {rate = "0.1"}
[[claim]]
text = "optimal transport is ahead"
more = {merge = "ot"}
less = {merge = "average"}
where = {rate = "0.1"}
)";

inline Study merges_study() { return parse_study(kMergesStudy, "merges", "merges.toml", "."); }

// Accuracy by seed of the four combinations, in the order of the plan.
inline StudyResults merges_results(const std::vector<std::vector<double>>& accuracy) {
  StudyResults results{
      merges_study(), "full", "nothing is reduced", {1, 2, 3, 4}, "dfrost study merges.toml", {}};
  const std::vector<std::vector<std::size_t>> combinations = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  for (std::size_t c = 0; c < combinations.size(); ++c) {
    for (std::size_t s = 0; s < 4; ++s) {
      CellResult cell;
      cell.values = combinations[c];
      cell.seed = s + 1;
      cell.folder = "run-" + std::to_string(c) + "-" + std::to_string(s);
      cell.done = s < accuracy[c].size();
      if (cell.done) {
        cell.figures["evaluation.accuracy_masked.mean"] = accuracy[c][s] / 100;
        cell.curves["evaluation.accuracy_masked.mean"] = {{1, 0.1}, {3, accuracy[c][s] / 100}};
        cell.seconds = 2;
      }
      results.cells.push_back(cell);
    }
  }
  return results;
}

}  // namespace dfrost::test

#include "study/kept_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/version.h"

namespace dfrost {
namespace {

bool has_all(const CellResult& cell, const WantedFigures& looked_for, const WantedFigures& wanted) {
  return std::ranges::all_of(wanted.last,
                             [&](const auto& name) {
                               return cell.figures.contains(name) || looked_for.last.contains(name);
                             }) &&
         std::ranges::all_of(wanted.curves, [&](const auto& name) {
           return cell.curves.contains(name) || looked_for.curves.contains(name);
         });
}

}  // namespace

std::string KeptResults::take(const std::filesystem::path& file, const StudyPlan& plan) {
  const auto results = read_results(file);
  if (results.version != version())
    return results.version.empty()
               ? "it does not say which dfrost made it"
               : fmt::format("it is of dfrost {}, and this is {}", results.version, version());
  std::set<std::string> planned;
  for (const auto& run : plan.runs) planned.insert(run.folder);
  const auto looked_for = wanted_by(results.study);
  bool any = false;
  for (const auto& cell : results.cells) {
    if (!cell.done || !planned.contains(cell.folder)) continue;
    runs_[cell.folder].push_back({cell, looked_for});
    any = true;
  }
  return any ? "" : "no run in it that is done has these settings and seeds";
}

const CellResult* KeptResults::find(const std::string& run, const Study& study) const {
  const auto found = runs_.find(run);
  if (found == runs_.end()) return nullptr;
  const auto wanted = wanted_by(study);
  for (const auto& kept : found->second) {
    if (has_all(kept.cell, kept.looked_for, wanted)) return &kept.cell;
  }
  return nullptr;
}

RunState state_of(const PlannedRun& run, const Study& study, const std::filesystem::path& runs,
                  const KeptResults& kept) {
  const RunState state = state_of(run, runs);
  return state != RunState::done && kept.find(run.folder, study) != nullptr ? RunState::done : state;
}

std::vector<std::size_t> runs_to_do(const Study& study, const StudyPlan& plan,
                                    const std::filesystem::path& runs, const KeptResults& kept) {
  std::vector<std::size_t> to_do;
  for (const Seed seed : plan.seeds) {
    for (std::size_t i = 0; i < plan.runs.size(); ++i) {
      if (plan.runs[i].config.run.seed == seed && state_of(plan.runs[i], study, runs, kept) != RunState::done)
        to_do.push_back(i);
    }
  }
  return to_do;
}

}  // namespace dfrost

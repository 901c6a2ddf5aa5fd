#include "merge/plan_summary.h"

#include <limits>
#include <utility>

namespace dfrost {

MergeSummary summary_of_plan(const Neighbourhood& all, std::vector<double> plan, std::size_t prompts) {
  MergeSummary summary;
  summary.column_mass.assign(prompts, 0.0);
  for (std::size_t cell = 0; cell < plan.size(); ++cell) summary.column_mass[cell % prompts] += plan[cell];
  summary.off_index_mass = off_index_mass(all, plan, prompts);
  summary.theorem = {.bound = std::numeric_limits<double>::infinity(), .smallest_delta = 0, .held = true};
  summary.plan = std::move(plan);
  return summary;
}

}  // namespace dfrost

#include "base/thread_pool.h"
#include "dfrost/wasserstein.h"
#include "merge/merge_kinds.h"
#include "merge/plan_summary.h"
#include "merge/start.h"
#include "ot/free_support_barycenter.h"
#include "ot/row_kernels.h"
#include "ot/transport_plan.h"

namespace dfrost {
namespace {

// The exact plans of all senders onto the merged prompts, each with its sender's weight.
std::vector<double> stacked_plans(const Neighbourhood& all, std::span<const Measure> senders,
                                  const DoubleMatrix& merged) {
  const std::size_t prompts = merged.rows();
  std::vector<double> plan(all.mass.size() * prompts);
  const std::vector<double> demand(prompts, 1.0 / static_cast<double>(prompts));
  std::size_t first = 0;
  for (std::size_t s = 0; s < senders.size(); ++s) {
    const std::size_t rows = senders[s].points.rows();
    DoubleMatrix costs(rows, prompts);
    squared_distances(DoubleMatrix(senders[s].points), merged, costs);
    const bool alike = senders[s].weights.empty();
    const std::vector<double> equal(rows, 1.0 / static_cast<double>(rows));
    for (const auto& entry :
         alike&& rows == prompts
             ? optimal_matching(costs)
             : optimal_plan(costs, alike ? std::span<const double>(equal) : senders[s].weights, demand)) {
      plan[(first + entry.from) * prompts + entry.to] = all.weights[s] * entry.mass;
    }
    first += rows;
  }
  return plan;
}

}  // namespace

MergedPrompts barycenter_merge(const Neighbourhood& all, const MergeInput& input, std::size_t prompts,
                               const MergeOptions& options) {
  std::vector<Measure> measures;
  for (std::size_t s = 0; s < input.senders.size(); ++s) {
    measures.push_back({input.senders[s]});
    if (!input.masses.empty()) measures.back().weights = input.masses[s];
  }
  BarycenterOptions how{.seed = options.seed};
  std::vector<float> drawn;
  if (options.init == MergeInit::previous) how.start = input.previous;
  if (options.init == MergeInit::kmeans_plus_plus) {
    for (const std::size_t row : choose_start(all, prompts, options)) {
      for (const double value : all.rows.row(row)) drawn.push_back(static_cast<float>(value));
    }
    how.start = {drawn.data(), prompts, all.rows.cols()};
  }
  ThreadPool pool(1);
  auto found = free_support_barycenter(measures, all.weights, prompts, how, pool);
  auto plan = stacked_plans(all, measures, found.points);
  MergedPrompts result{std::move(found.points), summary_of_plan(all, std::move(plan), prompts)};
  result.summary.steps = found.summary.passes;
  result.summary.converged = found.summary.converged;
  result.summary.objective = {found.summary.objective};
  return result;
}

}  // namespace dfrost

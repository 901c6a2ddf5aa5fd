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

std::vector<float> as_floats(const DoubleMatrix& rows) {
  std::vector<float> values(rows.rows() * rows.cols());
  rows.copy_to({values.data(), rows.rows(), rows.cols()});
  return values;
}

// Of the embedded rows. Their images are the step that a further pass would take from the points that the
// plan leads to, so that the objective is that of these points or lower.
DoubleMatrix means_by_plan(const Neighbourhood& all, std::span<const double> plan, std::size_t prompts) {
  DoubleMatrix weights(prompts, all.mass.size());
  std::vector<double> scale(prompts);
  for (std::size_t i = 0; i < prompts; ++i) {
    double mass = 0;
    for (std::size_t a = 0; a < all.mass.size(); ++a) mass += weights(i, a) = plan[a * prompts + i];
    scale[i] = 1 / mass;
  }
  return combine_embedded(all, weights, scale);
}

}  // namespace

MergedPrompts barycenter_merge(const Neighbourhood& all, const MergeInput& input, std::size_t prompts,
                               const MergeOptions& options) {
  const bool has_metric = all.embedded.rows() != 0;
  const auto images = has_metric ? as_floats(all.rows) : std::vector<float>();
  const std::size_t width = all.rows.cols();
  std::vector<Measure> measures;
  std::size_t first = 0;
  for (std::size_t s = 0; s < input.senders.size(); ++s) {
    const std::size_t rows = input.senders[s].rows();
    measures.push_back({has_metric ? MatrixView<const float>(images.data() + first * width, rows, width)
                                   : input.senders[s]});
    if (!input.masses.empty()) measures.back().weights = input.masses[s];
    first += rows;
  }
  BarycenterOptions how{.seed = options.seed};
  std::vector<float> drawn;
  if (options.init == MergeInit::previous)
    how.start =
        has_metric ? MatrixView<const float>(images.data() + first * width, prompts, width) : input.previous;
  if (options.init == MergeInit::kmeans_plus_plus) {
    for (const std::size_t row : choose_start(all, prompts, options)) {
      for (const double value : all.rows.row(row)) drawn.push_back(static_cast<float>(value));
    }
    how.start = {drawn.data(), prompts, width};
  }
  ThreadPool pool(1);
  auto found = free_support_barycenter(measures, all.weights, prompts, how, pool);
  auto plan = stacked_plans(all, measures, found.points);
  auto merged = has_metric ? means_by_plan(all, plan, prompts) : std::move(found.points);
  MergedPrompts result{std::move(merged), summary_of_plan(all, std::move(plan), prompts)};
  result.summary.steps = found.summary.passes;
  result.summary.converged = found.summary.converged;
  result.summary.objective = {found.summary.objective};
  return result;
}

}  // namespace dfrost

#include "transport/free_support_barycenter.h"

#include <algorithm>
#include <cassert>

#include "base/random.h"
#include "transport/barycenter_pass.h"
#include "transport/row_kernels.h"
#include "transport/seeding.h"

namespace dfrost {
namespace {

Matrix average_by_index(std::span<const Measure> measures, std::span<const double> weights) {
  Matrix average(measures.front().points.rows(), measures.front().points.cols());
  Matrix set = average;
  for (std::size_t m = 0; m < measures.size(); ++m) {
    set.set_rows(0, measures[m].points);
    for (std::size_t r = 0; r < set.rows(); ++r) add_scaled_row(set.row(r), weights[m], average.row(r));
  }
  return average;
}

// The points of one measure; where it has not as many as are wanted, rows drawn from it and from those after
// it.
Matrix start_from(std::span<const Measure> measures, std::size_t first, std::size_t points,
                  RandomStream& random) {
  if (measures[first].points.rows() == points) return Matrix(measures[first].points);
  std::size_t rows = 0, used = 0;
  while (used < measures.size() && (used == 0 || rows < points)) {
    rows += measures[(first + used++) % measures.size()].points.rows();
  }
  Matrix pool(rows, measures.front().points.cols());
  rows = 0;
  for (std::size_t m = 0; m < used; ++m) {
    const auto view = measures[(first + m) % measures.size()].points;
    pool.set_rows(rows, view);
    rows += view.rows();
  }
  const std::vector<double> equal(rows, 1.0);
  const auto chosen = kmeans_plus_plus(pool, equal, points, {}, random);
  Matrix start(points, pool.cols());
  for (std::size_t i = 0; i < points; ++i) std::ranges::copy(pool.row(chosen[i]), start.row(i).begin());
  return start;
}

std::vector<Matrix> make_starts(std::span<const Measure> measures, std::span<const double> weights,
                                std::size_t points, const BarycenterOptions& options) {
  std::vector<Matrix> starts;
  if (!options.start.empty()) {
    starts.emplace_back(options.start);
    return starts;
  }
  RandomStream random(options.seed, "barycenter start");
  const bool index_means_something = std::ranges::all_of(
      measures, [&](const Measure& m) { return m.points.rows() == points && m.weights.empty(); });
  if (index_means_something) starts.push_back(average_by_index(measures, weights));
  const std::size_t others = std::min(options.starts - starts.size(), measures.size());
  for (std::size_t k = 0; k < others; ++k) {
    starts.push_back(start_from(measures, k * measures.size() / others, points, random));
  }
  return starts;
}

// A start and how far it has come. Every pass says what the points are worth and where they should go next.
struct Descent {
  Matrix points;
  BarycenterPasses::Result at = {};
  std::size_t passes = 0;
  bool converged = false;
};

// With the plans held, moving to their averages lowers the objective by exactly ‖move‖²/n.
bool has_come_to_rest(const Descent& descent, double tolerance) {
  double moved = 0, norm = 0;
  for (std::size_t i = 0; i < descent.points.rows(); ++i) {
    const auto from = descent.points.row(i), to = descent.at.next_points.row(i);
    for (std::size_t k = 0; k < from.size(); ++k) {
      moved += (to[k] - from[k]) * (to[k] - from[k]);
      norm += from[k] * from[k];
    }
  }
  const double rounding = 1e-30 * norm;  // averaging again moves points by the last bit
  return moved <= static_cast<double>(descent.points.rows()) * tolerance * descent.at.objective + rounding;
}

void descend(Descent& descent, std::size_t up_to_passes, double tolerance, BarycenterPasses& passes) {
  while (!descent.converged && descent.passes < up_to_passes) {
    if (descent.passes > 0) descent.points = std::move(descent.at.next_points);
    descent.at = passes.run(descent.points);
    ++descent.passes;
    descent.converged = has_come_to_rest(descent, tolerance);
  }
}

}  // namespace

FreeSupportBarycenter free_support_barycenter(std::span<const Measure> measures,
                                              std::span<const double> weights, std::size_t points,
                                              const BarycenterOptions& options, ThreadPool& pool) {
  BarycenterPasses passes(measures, weights, points, pool);
  const std::size_t screening = options.screening_passes == 0
                                    ? options.max_passes
                                    : std::min(options.screening_passes, options.max_passes);
  FreeSupportBarycenter result;
  Descent best;
  for (auto& start : make_starts(measures, weights, points, options)) {
    Descent descent{.points = std::move(start)};
    descend(descent, screening, options.tolerance, passes);
    auto& objectives = result.summary.start_objectives;
    objectives.push_back(descent.at.objective);
    if (best.passes == 0 || descent.at.objective < best.at.objective) {
      best = std::move(descent);
      result.summary.best_start = objectives.size() - 1;
    }
  }
  descend(best, options.max_passes, options.tolerance, passes);
  result.points = std::move(best.points);
  result.summary.objective = result.summary.start_objectives[result.summary.best_start] = best.at.objective;
  result.summary.passes = best.passes;
  result.summary.converged = best.converged;
  result.summary.squared_distances = std::move(best.at.squared_distances);
  return result;
}

}  // namespace dfrost

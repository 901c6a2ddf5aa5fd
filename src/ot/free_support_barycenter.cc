#include "ot/free_support_barycenter.h"

#include <algorithm>
#include <cassert>

#include "base/random.h"
#include "ot/barycenter_pass.h"
#include "ot/row_kernels.h"
#include "ot/seeding.h"

namespace dfrost {
namespace {

// The points of one measure; where it has not as many as are wanted, rows drawn from it and from those after
// it.
DoubleMatrix start_from(std::span<const Measure> measures, std::size_t first, std::size_t points,
                        RandomStream& random) {
  if (measures[first].points.rows() == points) return DoubleMatrix(measures[first].points);
  std::size_t rows = 0, used = 0;
  while (used < measures.size() && (used == 0 || rows < points)) {
    rows += measures[(first + used++) % measures.size()].points.rows();
  }
  DoubleMatrix pool(rows, measures.front().points.cols());
  rows = 0;
  for (std::size_t m = 0; m < used; ++m) {
    const auto view = measures[(first + m) % measures.size()].points;
    pool.set_rows(rows, view);
    rows += view.rows();
  }
  const std::vector<double> equal(rows, 1.0);
  const auto chosen = kmeans_plus_plus(pool, equal, points, {}, random);
  DoubleMatrix start(points, pool.cols());
  for (std::size_t i = 0; i < points; ++i) std::ranges::copy(pool.row(chosen[i]), start.row(i).begin());
  return start;
}

std::vector<DoubleMatrix> make_starts(std::span<const Measure> measures, std::size_t points,
                                      const BarycenterOptions& options, BarycenterPasses& passes) {
  std::vector<DoubleMatrix> starts;
  if (!options.start.empty()) {
    starts.emplace_back(options.start);
    return starts;
  }
  RandomStream random(options.seed, "barycenter start");
  if (passes.all_match()) starts.push_back(passes.average_by_index());
  const std::size_t others = std::min(options.starts - starts.size(), measures.size());
  for (std::size_t k = 0; k < others; ++k) {
    starts.push_back(start_from(measures, k * measures.size() / others, points, random));
  }
  return starts;
}

// A start and how far it has come. Every pass says what the points are worth and where they should go next.
struct Descent {
  DoubleMatrix points;
  BarycenterPasses::Result at = {};
  std::size_t passes = 0;
  bool converged = false;
};

struct Move {
  double squared = 0;  // its length, of all points together
  double norm = 0;     // ‖points‖²
};

Move next_move(const Descent& descent) {
  double moved = 0, norm = 0;
  for (std::size_t i = 0; i < descent.points.rows(); ++i) {
    const auto from = descent.points.row(i), to = descent.at.next_points.row(i);
    for (std::size_t k = 0; k < from.size(); ++k) {
      moved += (to[k] - from[k]) * (to[k] - from[k]);
      norm += from[k] * from[k];
    }
  }
  return {moved, norm};
}

// With the plans held, moving to their averages lowers the objective by exactly ‖move‖²/n.
bool has_come_to_rest(const Descent& descent, double tolerance) {
  const auto [moved, norm] = next_move(descent);
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

// Evenly spaced measures, which stand for all of them while starts are compared.
struct Sample {
  std::vector<Measure> measures;
  std::vector<double> weights;
};

Sample take_sample(std::span<const Measure> measures, std::span<const double> weights, std::size_t size) {
  Sample sample;
  double sum = 0;
  for (std::size_t s = 0; s < size; ++s) {
    const std::size_t m = s * measures.size() / size;
    sample.measures.push_back(measures[m]);
    sum += sample.weights.emplace_back(weights[m]);
  }
  for (double& weight : sample.weights) weight = sum > 0 ? weight / sum : 1.0 / static_cast<double>(size);
  return sample;
}

struct Screened {
  Descent best;
  std::size_t best_start = 0;
  std::vector<double> objectives;
};

Screened screen(std::vector<DoubleMatrix> starts, std::size_t up_to_passes, double tolerance,
                BarycenterPasses& passes) {
  Screened result;
  for (auto& start : starts) {
    Descent descent{.points = std::move(start)};
    descend(descent, up_to_passes, tolerance, passes);
    result.objectives.push_back(descent.at.objective);
    if (result.best.passes > 0 && descent.at.objective >= result.best.at.objective) continue;
    result.best = std::move(descent);
    result.best_start = result.objectives.size() - 1;
  }
  return result;
}

}  // namespace

FreeSupportBarycenter free_support_barycenter(std::span<const Measure> measures,
                                              std::span<const double> weights, std::size_t points,
                                              const BarycenterOptions& options, ThreadPool& pool) {
  BarycenterPasses passes(measures, weights, points, pool);
  auto starts = make_starts(measures, points, options, passes);
  const bool is_screening = starts.size() > 1 && options.screening_passes > 0;
  Screened screened;
  if (is_screening && options.screening_measures > 0 && options.screening_measures < measures.size()) {
    const Sample sample = take_sample(measures, weights, options.screening_measures);
    BarycenterPasses sample_passes(sample.measures, sample.weights, points, pool);
    screened = screen(std::move(starts), options.screening_passes, options.tolerance, sample_passes);
    screened.best = {.points = std::move(screened.best.points)};  // and now in earnest
  } else {
    const std::size_t limit =
        is_screening ? std::min(options.screening_passes, options.max_passes) : options.max_passes;
    screened = screen(std::move(starts), limit, options.tolerance, passes);
  }
  auto& best = screened.best;
  descend(best, options.max_passes, options.tolerance, passes);

  FreeSupportBarycenter result;
  screened.objectives[screened.best_start] = best.at.objective;
  const double gain = next_move(best).squared / static_cast<double>(points);
  result.points = std::move(best.points);
  result.summary = {.objective = best.at.objective,
                    .start_objectives = std::move(screened.objectives),
                    .best_start = screened.best_start,
                    .passes = best.passes,
                    .converged = best.converged,
                    .gain = gain,
                    .squared_distances = std::move(best.at.squared_distances)};
  return result;
}

}  // namespace dfrost

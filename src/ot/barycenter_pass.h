// One step of the free-support barycenter: an exact plan from every measure to the current points, and the
// points that those plans call for. Parallel over measures; sums run over fixed blocks of measures in a fixed
// order, so that the number of threads does not change a bit.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "dfrost/wasserstein.h"
#include "ot/assignment.h"
#include "ot/matrix.h"

namespace dfrost {

class BarycenterPasses {
 public:
  // Keeps views of the measures and weights: they must outlive it.
  BarycenterPasses(std::span<const Measure> measures, std::span<const double> weights, std::size_t points,
                   ThreadPool& pool);

  struct Result {
    double objective = 0;                   // Σ weight·W₂² at the points that came in
    std::vector<double> squared_distances;  // its terms, without the weights
    DoubleMatrix next_points;               // the minimiser for the plans found
  };
  Result run(const DoubleMatrix& points);

  // The measure is a set of as many equal points as the barycenter has.
  bool is_matching(std::size_t measure) const;
  bool all_match() const;

  // Σ weight·measure by index. All measures match.
  DoubleMatrix average_by_index();

 private:
  struct Worker {
    FloatMatrix prompts;
    DoubleMatrix costs;
    AssignmentSolver assignment;
  };

  // Each adds weight·(plan applied to the measure) to `sums`, and returns W₂².
  double visit_matching(std::size_t measure, const DoubleMatrix& points, Worker& worker,
                        DoubleMatrix& sums) const;
  double visit_any(std::size_t measure, const DoubleMatrix& points, DoubleMatrix& sums) const;

  // Calls visit(measure, worker, sums) for all measures, and returns the total of `sums`, [points, width].
  template <class Visit>
  DoubleMatrix sum_over_measures(const Visit& visit);

  std::span<const Measure> measures_;
  std::span<const double> weights_;
  std::size_t points_;
  ThreadPool& pool_;
  std::size_t block_size_;
  std::vector<Worker> workers_;
  std::vector<DoubleMatrix> block_sums_;
  DoubleMatrix from_points_to_centre_;  // of the pass under way, [points, width]
};

}  // namespace dfrost

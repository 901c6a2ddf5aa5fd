// One step of the free-support barycenter: an exact plan from every measure to the current points, and the
// points that those plans call for. Parallel over measures; sums run over fixed blocks of measures in a fixed
// order, so that the number of threads does not change a bit.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "dfrost/wasserstein.h"
#include "transport/assignment.h"
#include "transport/matrix.h"

namespace dfrost {

class BarycenterPasses {
 public:
  // Keeps views of the measures and weights: they must outlive it.
  BarycenterPasses(std::span<const Measure> measures, std::span<const double> weights, std::size_t points,
                   ThreadPool& pool);

  struct Result {
    double objective = 0;                   // Σ weight·W₂² at the points that came in
    std::vector<double> squared_distances;  // its terms, without the weights
    Matrix next_points;                     // the minimiser for the plans found
  };
  Result run(const Matrix& points);

  // One of the measures is a set of as many equal points as the barycenter has.
  bool is_matching(std::size_t measure) const;

 private:
  struct Worker {
    Matrix prompts;
    Matrix costs;
    AssignmentSolver assignment;
  };

  // Adds weight·(plan applied to the measure) to `sums`; returns W₂².
  double visit(std::size_t measure, const Matrix& points, Worker& worker, Matrix& sums) const;

  std::span<const Measure> measures_;
  std::span<const double> weights_;
  std::size_t points_;
  ThreadPool& pool_;
  std::size_t block_size_;
  std::vector<Worker> workers_;
  std::vector<Matrix> block_sums_;
};

}  // namespace dfrost

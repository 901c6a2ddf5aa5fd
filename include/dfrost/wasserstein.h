// Exact 2-Wasserstein geometry of weighted point sets: distances with their plans, and barycenters.
// W₂²(a, b) is the least Σ mass·‖x − y‖² over all ways to move the mass of a onto that of b. Floats at the
// border, doubles inside; deterministic whatever the number of threads. Bad input is an Error, never a NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfrost/matrix_view.h"

namespace dfrost {

// Points are rows. Weights are not negative and sum to one; none given means that all points weigh the same.
struct Measure {
  MatrixView<const float> points;
  std::span<const double> weights = {};
};

struct PlanEntry {
  std::size_t from = 0;  // row of the first measure
  std::size_t to = 0;    // row of the second
  double mass = 0;
};

struct Transport {
  double w2_squared = 0;
  std::vector<PlanEntry> plan;  // positive masses only, by `from`, then by `to`
};

Transport wasserstein2_squared(const Measure& a, const Measure& b);

struct BarycenterOptions {
  // How many starts are tried: the average by index where it exists, then evenly spaced measures, their
  // points drawn as k-means++ does where there are more or fewer of them than asked for.
  std::size_t starts = 3;
  // After so many passes over the measures only the best start goes on; 0 runs each to its end.
  std::size_t screening_passes = 0;
  // So many evenly spaced measures stand for all of them until then; 0: all.
  std::size_t screening_measures = 0;
  // A start has ended when a pass lowers the objective by no more than this share of it, or after so many
  // passes.
  double tolerance = 1e-12;
  std::size_t max_passes = 100;
  // A start of the caller's own, [n, d]: then it is the only one.
  MatrixView<const float> start = {};
  std::uint64_t seed = 0;   // of the k-means++ draws
  std::size_t threads = 1;  // 0: as many as this process may use

  void validate() const;
};

struct BarycenterSummary {
  double objective = 0;                  // Σ weight·W₂²(measure, barycenter)
  std::vector<double> start_objectives;  // where each start ended or was left behind
  std::size_t best_start = 0;
  std::size_t passes = 0;  // of the best start
  bool converged = false;
  double gain = 0;                        // what another pass would at least take off the objective
  std::vector<double> squared_distances;  // W₂² of each measure to the barycenter
};

// The n = points.rows() points of equal mass that minimise Σ weight·W₂², locally: exact plans and averages
// alternate until nothing moves (Cuturi and Doucet, 2014). `weights` as in Measure: of the measures here.
BarycenterSummary barycenter(std::span<const Measure> measures, std::span<const double> weights,
                             const BarycenterOptions& options, MatrixView<float> points);

}  // namespace dfrost

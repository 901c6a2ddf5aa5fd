#include "dfrost/wasserstein.h"

#include <fmt/format.h>

#include <cmath>

#include "base/thread_pool.h"
#include "dfrost/error.h"
#include "ot/checks.h"
#include "ot/free_support_barycenter.h"
#include "ot/row_kernels.h"
#include "ot/transport_plan.h"

namespace dfrost {

Transport wasserstein2_squared(const Measure& a, const Measure& b) {
  check_points(a.points, "first measure");
  check_points(b.points, a.points.cols(), "second measure");
  const auto supply = checked_weights(a.weights, a.points.rows(), "weights of the first measure");
  const auto demand = checked_weights(b.weights, b.points.rows(), "weights of the second measure");
  DoubleMatrix costs(a.points.rows(), b.points.rows());
  squared_distances(DoubleMatrix(a.points), DoubleMatrix(b.points), costs);
  const bool is_matching = a.weights.empty() && b.weights.empty() && a.points.rows() == b.points.rows();
  Transport result{.plan = is_matching ? optimal_matching(costs) : optimal_plan(costs, supply, demand)};
  for (const auto& entry : result.plan) result.w2_squared += entry.mass * costs(entry.from, entry.to);
  return result;
}

void BarycenterOptions::validate() const {
  if (starts == 0)
    throw Error(ErrorCode::invalid_argument, "a barycenter needs at least one start").at("starts");
  if (max_passes == 0)
    throw Error(ErrorCode::invalid_argument, "a barycenter needs at least one pass").at("max_passes");
  if (!(tolerance >= 0) || !std::isfinite(tolerance)) {
    throw Error(ErrorCode::invalid_argument, fmt::format("tolerance is {}; it must be 0 or more", tolerance))
        .at("tolerance");
  }
}

BarycenterSummary barycenter(std::span<const Measure> measures, std::span<const double> weights,
                             const BarycenterOptions& options, MatrixView<float> points) {
  options.validate();
  if (measures.empty()) throw Error(ErrorCode::invalid_argument, "no measures to take the barycenter of");
  if (points.empty()) throw Error(ErrorCode::invalid_argument, "a barycenter of n = 0 points was asked for");
  const auto shares = checked_weights(weights, measures.size(), "weights of the measures");
  std::vector<std::vector<double>> own_weights(measures.size());
  std::vector<Measure> checked(measures.begin(), measures.end());
  for (std::size_t m = 0; m < measures.size(); ++m) {
    check_points(measures[m].points, points.cols(), fmt::format("measure {}", m));
    if (measures[m].weights.empty()) continue;
    own_weights[m] = checked_weights(measures[m].weights, measures[m].points.rows(),
                                     fmt::format("weights of measure {}", m));
    checked[m].weights = own_weights[m];
  }
  if (!options.start.empty()) {
    check_points(options.start, points.cols(), "start");
    if (options.start.rows() != points.rows()) {
      throw Error(ErrorCode::invalid_argument, fmt::format("the start has {} points, the barycenter {}",
                                                           options.start.rows(), points.rows()))
          .at("start");
    }
  }
  ThreadPool pool(options.threads);
  auto result = free_support_barycenter(checked, shares, points.rows(), options, pool);
  result.points.copy_to(points);
  return std::move(result.summary);
}

}  // namespace dfrost

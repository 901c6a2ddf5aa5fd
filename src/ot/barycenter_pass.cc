#include "ot/barycenter_pass.h"

#include <algorithm>
#include <utility>

#include "ot/row_kernels.h"
#include "ot/transport_plan.h"

namespace dfrost {
namespace {

// Enough blocks to share among any number of cores, few enough that their sums stay small beside the
// measures.
constexpr std::size_t kSmallestBlock = 16;
constexpr std::size_t kBlocks = 64;

}  // namespace

BarycenterPasses::BarycenterPasses(std::span<const Measure> measures, std::span<const double> weights,
                                   std::size_t points, ThreadPool& pool)
    : measures_(measures),
      weights_(weights),
      points_(points),
      pool_(pool),
      block_size_(std::max(kSmallestBlock, (measures.size() + kBlocks - 1) / kBlocks)) {
  const std::size_t width = measures.front().points.cols();
  for (std::size_t worker = 0; worker < pool.size(); ++worker) {
    workers_.push_back({FloatMatrix(points, width), DoubleMatrix(points, points), AssignmentSolver(points)});
  }
  block_sums_.assign((measures.size() + block_size_ - 1) / block_size_, DoubleMatrix(points, width));
}

bool BarycenterPasses::is_matching(std::size_t measure) const {
  return measures_[measure].points.rows() == points_ && measures_[measure].weights.empty();
}

bool BarycenterPasses::all_match() const {
  for (std::size_t measure = 0; measure < measures_.size(); ++measure) {
    if (!is_matching(measure)) return false;
  }
  return true;
}

// Σ‖x_i − y_π(i)‖² = constant − 2 Σ⟨x_i, y_π(i)⟩, and moving all y by the same vector changes the constant
// alone. So the best π follows from products with the centred points, at half the cost of distances, and only
// the distances of matched points are computed.
double BarycenterPasses::visit_matching(std::size_t measure, const DoubleMatrix& points, Worker& worker,
                                        DoubleMatrix& sums) const {
  worker.prompts.set_rows(0, measures_[measure].points);
  products(from_points_to_centre_, worker.prompts, worker.costs);
  const auto prompt_of = worker.assignment.solve(worker.costs);
  double distance = 0;
  for (std::size_t i = 0; i < points_; ++i) {
    distance += add_matched_row(std::as_const(worker.prompts).row(prompt_of[i]), weights_[measure],
                                points.row(i), sums.row(i));
  }
  return distance / static_cast<double>(points_);
}

double BarycenterPasses::visit_any(std::size_t measure, const DoubleMatrix& points,
                                   DoubleMatrix& sums) const {
  const auto& [view, own_weights] = measures_[measure];
  const DoubleMatrix rows(view);
  DoubleMatrix costs(rows.rows(), points_);
  squared_distances(rows, points, costs);
  const std::vector<double> equal_supply(own_weights.empty() ? view.rows() : 0,
                                         1.0 / static_cast<double>(view.rows()));
  const auto size = static_cast<double>(points_);
  const std::vector<double> demand(points_, 1.0 / size);
  double distance = 0;
  for (const auto& entry : optimal_plan(
           costs, own_weights.empty() ? std::span<const double>(equal_supply) : own_weights, demand)) {
    distance += entry.mass * costs(entry.from, entry.to);
    // Each of the barycenter's points holds 1/n mass, so what it becomes is n times what flows into it.
    add_scaled_row(rows.row(entry.from), weights_[measure] * size * entry.mass, sums.row(entry.to));
  }
  return distance;
}

template <class Visit>
DoubleMatrix BarycenterPasses::sum_over_measures(const Visit& visit) {
  pool_.parallel_for(block_sums_.size(), [&](std::size_t block, std::size_t worker) {
    auto& sums = block_sums_[block];
    sums.fill_with_zeros();
    const std::size_t end = std::min((block + 1) * block_size_, measures_.size());
    for (std::size_t measure = block * block_size_; measure < end; ++measure)
      visit(measure, workers_[worker], sums);
  });
  DoubleMatrix total(points_, measures_.front().points.cols());
  for (const auto& sums : block_sums_) {
    for (std::size_t i = 0; i < points_; ++i) add_scaled_row(sums.row(i), 1.0, total.row(i));
  }
  return total;
}

BarycenterPasses::Result BarycenterPasses::run(const DoubleMatrix& points) {
  DoubleMatrix centre(1, points.cols());
  for (std::size_t i = 0; i < points_; ++i)
    add_scaled_row(points.row(i), 1.0 / static_cast<double>(points_), centre.row(0));
  from_points_to_centre_ = DoubleMatrix(points_, points.cols());
  for (std::size_t i = 0; i < points_; ++i) {
    add_scaled_row(std::as_const(centre).row(0), 1, from_points_to_centre_.row(i));
    add_scaled_row(points.row(i), -1, from_points_to_centre_.row(i));
  }
  Result result;
  result.squared_distances.resize(measures_.size());
  result.next_points = sum_over_measures([&](std::size_t measure, Worker& worker, DoubleMatrix& sums) {
    result.squared_distances[measure] = is_matching(measure) ? visit_matching(measure, points, worker, sums)
                                                             : visit_any(measure, points, sums);
  });
  for (std::size_t measure = 0; measure < measures_.size(); ++measure) {
    result.objective += weights_[measure] * result.squared_distances[measure];
  }
  return result;
}

DoubleMatrix BarycenterPasses::average_by_index() {
  return sum_over_measures([&](std::size_t measure, Worker& worker, DoubleMatrix& sums) {
    worker.prompts.set_rows(0, measures_[measure].points);
    for (std::size_t i = 0; i < points_; ++i)
      add_scaled_row(std::as_const(worker.prompts).row(i), weights_[measure], sums.row(i));
  });
}

}  // namespace dfrost

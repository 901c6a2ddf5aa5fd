#include "transport/barycenter_pass.h"

#include <algorithm>

#include "transport/row_kernels.h"
#include "transport/transport_plan.h"

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
  std::size_t largest = 0;
  for (const auto& measure : measures) largest = std::max(largest, measure.points.rows());
  for (std::size_t worker = 0; worker < pool.size(); ++worker) {
    workers_.push_back({Matrix(largest, width), Matrix(largest, points), AssignmentSolver(points)});
  }
  block_sums_.assign((measures.size() + block_size_ - 1) / block_size_, Matrix(points, width));
}

bool BarycenterPasses::is_matching(std::size_t measure) const {
  return measures_[measure].points.rows() == points_ && measures_[measure].weights.empty();
}

double BarycenterPasses::visit(std::size_t measure, const Matrix& points, Worker& worker,
                               Matrix& sums) const {
  const auto& [view, own_weights] = measures_[measure];
  worker.prompts.set_rows(0, view);
  squared_distances(worker.prompts, points, worker.costs);
  // Each of the barycenter's points holds 1/n mass, so what it becomes is n times what flows into it.
  const double weight = weights_[measure];
  const auto size = static_cast<double>(points_);
  double distance = 0;
  if (is_matching(measure)) {
    const auto column_of = worker.assignment.solve(worker.costs);
    for (std::size_t row = 0; row < points_; ++row) {
      distance += worker.costs(row, column_of[row]);
      add_scaled_row(worker.prompts.row(row), weight, sums.row(column_of[row]));
    }
    return distance / size;
  }
  const std::vector<double> equal_supply(own_weights.empty() ? view.rows() : 0,
                                         1.0 / static_cast<double>(view.rows()));
  const std::vector<double> demand(points_, 1.0 / size);
  for (const auto& entry : optimal_plan(
           worker.costs, own_weights.empty() ? std::span<const double>(equal_supply) : own_weights, demand)) {
    distance += entry.mass * worker.costs(entry.from, entry.to);
    add_scaled_row(worker.prompts.row(entry.from), weight * size * entry.mass, sums.row(entry.to));
  }
  return distance;
}

BarycenterPasses::Result BarycenterPasses::run(const Matrix& points) {
  Result result;
  result.squared_distances.resize(measures_.size());
  pool_.parallel_for(block_sums_.size(), [&](std::size_t block, std::size_t worker) {
    auto& sums = block_sums_[block];
    sums.fill_with_zeros();
    const std::size_t end = std::min((block + 1) * block_size_, measures_.size());
    for (std::size_t measure = block * block_size_; measure < end; ++measure) {
      result.squared_distances[measure] = visit(measure, points, workers_[worker], sums);
    }
  });
  result.next_points = Matrix(points_, points.cols());
  for (const auto& sums : block_sums_) {
    for (std::size_t i = 0; i < points_; ++i) add_scaled_row(sums.row(i), 1.0, result.next_points.row(i));
  }
  for (std::size_t measure = 0; measure < measures_.size(); ++measure) {
    result.objective += weights_[measure] * result.squared_distances[measure];
  }
  return result;
}

}  // namespace dfrost

#include "ot/assignment.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace dfrost {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

}  // namespace

AssignmentSolver::AssignmentSolver(std::size_t size)
    : size_(size),
      price_(size),
      column_of_(size),
      row_of_(size),
      distance_(size),
      previous_row_(size),
      is_closed_(size) {
  closed_columns_.reserve(size);
}

std::span<const std::size_t> AssignmentSolver::solve(const DoubleMatrix& cost) {
  assert(cost.rows() >= size_ && cost.cols() >= size_);
  reduce_columns(cost);
  for (std::size_t row = 0; row < size_; ++row) {
    if (column_of_[row] == kNone) augment_from(row, cost);
  }
  return column_of_;
}

// Every column offers itself to the row that wants it most. What remains is a minority of the rows.
void AssignmentSolver::reduce_columns(const DoubleMatrix& cost) {
  std::fill(column_of_.begin(), column_of_.end(), kNone);
  std::fill(row_of_.begin(), row_of_.end(), kNone);
  std::copy_n(cost.row(0).begin(), size_, price_.begin());
  std::fill(previous_row_.begin(), previous_row_.end(), std::size_t{0});
  for (std::size_t row = 1; row < size_; ++row) {
    const auto costs = cost.row(row);
    for (std::size_t column = 0; column < size_; ++column) {
      if (costs[column] < price_[column]) {
        price_[column] = costs[column];
        previous_row_[column] = row;
      }
    }
  }
  for (std::size_t column = 0; column < size_; ++column) {
    const std::size_t row = previous_row_[column];
    if (column_of_[row] != kNone) continue;
    column_of_[row] = column;
    row_of_[column] = row;
  }
}

std::size_t AssignmentSolver::nearest_open_column() const {
  std::size_t nearest = kNone;
  for (std::size_t column = 0; column < size_; ++column) {
    if (!is_closed_[column] && (nearest == kNone || distance_[column] < distance_[nearest])) nearest = column;
  }
  return nearest;
}

// Dijkstra from a row without a column to the nearest column without a row, then everybody on the way moves
// over.
void AssignmentSolver::augment_from(std::size_t free_row, const DoubleMatrix& cost) {
  for (std::size_t column = 0; column < size_; ++column) {
    distance_[column] = cost(free_row, column) - price_[column];
  }
  std::fill(previous_row_.begin(), previous_row_.end(), free_row);
  std::fill(is_closed_.begin(), is_closed_.end(), char{0});
  closed_columns_.clear();

  std::size_t column = nearest_open_column();
  while (row_of_[column] != kNone) {
    is_closed_[column] = 1;
    closed_columns_.push_back(column);
    const std::size_t row = row_of_[column];
    const auto costs = cost.row(row);
    const double offset = costs[column] - price_[column] - distance_[column];
    for (std::size_t other = 0; other < size_; ++other) {
      const double through = costs[other] - price_[other] - offset;
      if (!is_closed_[other] && through < distance_[other]) {
        distance_[other] = through;
        previous_row_[other] = row;
      }
    }
    column = nearest_open_column();
  }

  const double length = distance_[column];
  for (const std::size_t closed : closed_columns_) price_[closed] += distance_[closed] - length;
  for (std::size_t row = kNone; row != free_row;) {
    row = previous_row_[column];
    row_of_[column] = row;
    std::swap(column_of_[row], column);
  }
}

}  // namespace dfrost

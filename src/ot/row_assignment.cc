#include "ot/row_assignment.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace dfrost {
namespace {

constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

class RowAssignment {
 public:
  explicit RowAssignment(const DoubleMatrix& cost)
      : cost_(cost),
        row_price_(cost.rows()),
        column_price_(cost.cols()),
        column_of_(cost.rows(), kNobody),
        row_of_(cost.cols(), kNobody),
        distance_(cost.cols()),
        previous_(cost.cols()),
        closed_(cost.cols()) {}

  std::vector<std::size_t> solve() {
    for (std::size_t row = 0; row < cost_.rows(); ++row) augment(row);
    return std::move(column_of_);
  }

 private:
  // Dijkstra in reduced costs from a row without a column to the nearest column without a row; then all on
  // the way move over by one.
  void augment(std::size_t start) {
    std::ranges::fill(distance_, std::numeric_limits<double>::infinity());
    std::ranges::fill(closed_, false);
    reached_.clear();
    double length = 0;
    std::size_t row = start, column = kNobody;
    while (true) {
      column = next_column(row, length);
      length = distance_[column];
      closed_[column] = true;
      reached_.push_back(column);
      if (row_of_[column] == kNobody) break;
      row = row_of_[column];
    }
    row_price_[start] += length;
    for (const std::size_t passed : reached_) {
      const double rest = length - distance_[passed];
      column_price_[passed] -= rest;
      if (row_of_[passed] != kNobody) row_price_[row_of_[passed]] += rest;
    }
    for (std::size_t moved = kNobody; moved != start;) {
      moved = previous_[column];
      row_of_[column] = moved;
      std::swap(column_of_[moved], column);
    }
  }

  // Looks on from `row`, which lies at this distance, and returns the nearest column that is open.
  std::size_t next_column(std::size_t row, double length) {
    const auto costs = cost_.row(row);
    std::size_t nearest = kNobody;
    for (std::size_t c = 0; c < closed_.size(); ++c) {
      if (closed_[c]) continue;
      const double through = length + costs[c] - row_price_[row] - column_price_[c];
      if (through < distance_[c]) {
        distance_[c] = through;
        previous_[c] = row;
      }
      const bool nearer = nearest == kNobody || distance_[c] < distance_[nearest];
      const bool as_near_and_free = nearest != kNobody && distance_[c] == distance_[nearest] &&
                                    row_of_[c] == kNobody && row_of_[nearest] != kNobody;
      if (nearer || as_near_and_free) nearest = c;
    }
    return nearest;
  }

  const DoubleMatrix& cost_;
  std::vector<double> row_price_, column_price_;
  std::vector<std::size_t> column_of_, row_of_;
  std::vector<double> distance_;
  std::vector<std::size_t> previous_, reached_;
  std::vector<char> closed_;
};

}  // namespace

std::vector<std::size_t> assign_rows(const DoubleMatrix& cost) {
  assert(cost.rows() <= cost.cols());
  return RowAssignment(cost).solve();
}

}  // namespace dfrost

#include "ot/row_assignment.h"

#include <algorithm>
#include <cassert>
#include <cmath>
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

// What it costs that a row takes another row's column, or (last) the cheapest of those that nobody has. Who
// takes a free one leaves its own to nobody, at no cost.
DoubleMatrix costs_of_moves(const DoubleMatrix& cost, std::span<const std::size_t> columns) {
  const std::size_t rows = cost.rows();
  std::vector<bool> taken(cost.cols(), false);
  for (const std::size_t c : columns) taken[c] = true;
  DoubleMatrix moves(rows + 1, rows + 1);
  for (std::size_t r = 0; r < rows; ++r) {
    const double own = cost(r, columns[r]);
    double cheapest = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < cost.cols(); ++c)
      if (!taken[c]) cheapest = std::min(cheapest, cost(r, c));
    for (std::size_t other = 0; other < rows; ++other) moves(r, other) = cost(r, columns[other]) - own;
    moves(r, rows) = cheapest - own;
    moves(r, r) = std::numeric_limits<double>::infinity();
  }
  moves(rows, rows) = std::numeric_limits<double>::infinity();
  return moves;
}

double largest_size(const DoubleMatrix& values) {
  double largest = 0;
  for (std::size_t r = 0; r < values.rows(); ++r)
    for (const double value : values.row(r)) largest = std::max(largest, std::abs(value));
  return largest;
}

}  // namespace

// Any other assignment is a cycle of moves, or several; the shortest by Floyd and Warshall.
bool is_only_best(const DoubleMatrix& cost, std::span<const std::size_t> columns) {
  DoubleMatrix ways = costs_of_moves(cost, columns);
  const double tolerance = 1e-12 * static_cast<double>(cost.rows()) * largest_size(cost);
  for (std::size_t via = 0; via < ways.rows(); ++via) {
    const auto onwards = std::as_const(ways).row(via);
    for (std::size_t from = 0; from < ways.rows(); ++from) {
      const auto row = ways.row(from);
      const double before = row[via];
      for (std::size_t to = 0; to < row.size(); ++to) {
        const double through = before + onwards[to];
        row[to] = through < row[to] ? through : row[to];
      }
    }
    for (std::size_t r = 0; r < ways.rows(); ++r)
      if (!(ways(r, r) > tolerance)) return false;
  }
  return true;
}

std::vector<std::size_t> assign_rows(const DoubleMatrix& cost) {
  assert(cost.rows() <= cost.cols());
  return RowAssignment(cost).solve();
}

}  // namespace dfrost

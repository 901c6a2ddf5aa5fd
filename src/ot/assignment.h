// The permutation of least total cost between n rows and n columns: exact optimal transport where both sides
// have n points of equal mass. Shortest augmenting paths over a column reduction (Jonker and Volgenant,
// 1987), O(n³), in double without any tolerance. Deterministic. A solver keeps its buffers: one per thread,
// and no allocation between calls, because the consensus error of a large network solves hundreds of
// thousands of these.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ot/matrix.h"

namespace dfrost {

class AssignmentSolver {
 public:
  explicit AssignmentSolver(std::size_t size);

  // The column of every row. cost is [size, size] or larger and finite; the answer lives until the next call.
  std::span<const std::size_t> solve(const DoubleMatrix& cost);

 private:
  void reduce_columns(const DoubleMatrix& cost);
  void augment_from(std::size_t free_row, const DoubleMatrix& cost);
  std::size_t nearest_open_column() const;

  std::size_t size_;
  std::vector<double> price_;  // of each column: cost − price is the reduced cost up to a constant per row
  std::vector<std::size_t> column_of_;
  std::vector<std::size_t> row_of_;
  // Of the search under way:
  std::vector<double> distance_;  // from the free row to each column, in reduced costs
  std::vector<std::size_t> previous_row_;
  std::vector<std::size_t> closed_columns_;
  std::vector<char> is_closed_;
};

}  // namespace dfrost

// Every row gets a column of its own, at least total cost, where there are at least as many columns as rows.
// Shortest augmenting paths (Crouse 2016), O(rows² · columns), in double without any tolerance. Of equally
// near columns a free one is taken first, then the lowest. Deterministic.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ot/matrix.h"

namespace dfrost {

// The column of every row. Costs are finite.
std::vector<std::size_t> assign_rows(const DoubleMatrix& cost);

// Whether any other assignment costs more than this one, a best one, by more than sums of doubles can be off.
bool is_only_best(const DoubleMatrix& cost, std::span<const std::size_t> columns);

}  // namespace dfrost

// Every row gets a column of its own, at least total cost, where there are at least as many columns as rows.
// Shortest augmenting paths (Crouse 2016), O(rows² · columns), in double without any tolerance. Of equally
// near columns a free one is taken first, then the lowest. Deterministic.
#pragma once

#include <cstddef>
#include <vector>

#include "ot/matrix.h"

namespace dfrost {

// The column of every row. Costs are finite.
std::vector<std::size_t> assign_rows(const DoubleMatrix& cost);

}  // namespace dfrost

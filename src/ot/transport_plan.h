// Exact optimal transport between two weighted point sets of any sizes, given the cost between every pair:
// the network simplex of LEMON in integers, so that it ends, and ends the same way, on every input. Masses
// are counted in units of 2⁻⁶⁰ of the whole and costs in units of about 10⁻¹⁵ of the largest; the plan's cost
// is then summed in double.
#pragma once

#include <span>
#include <vector>

#include "dfrost/wasserstein.h"
#include "ot/matrix.h"

namespace dfrost {

// The plan of least Σ mass·cost that moves `supply` (one mass per row of cost) onto `demand` (one per
// column). Masses are not negative and both sides sum to one up to rounding. Entries come by row, then by
// column.
std::vector<PlanEntry> optimal_plan(const DoubleMatrix& cost, std::span<const double> supply,
                                    std::span<const double> demand);

// The same where both sides hold `cost.rows()` points of mass 1/rows: an assignment.
std::vector<PlanEntry> optimal_matching(const DoubleMatrix& cost);

}  // namespace dfrost

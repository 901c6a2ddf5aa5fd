// Exact optimal transport between two weighted point sets of any sizes, given the cost between every pair.
// Shortest augmenting paths (successive Dijkstra searches over reduced costs) in double without any
// tolerance: deterministic, and it ends after about as many searches as there are points. O((R + C)·R·C) at
// worst.
#pragma once

#include <span>
#include <vector>

#include "dfrost/wasserstein.h"
#include "transport/matrix.h"

namespace dfrost {

// The plan of least Σ mass·cost that moves `supply` (one mass per row of cost) onto `demand` (one per
// column). Masses are not negative and both sides have the same sum up to rounding. Entries come by row, then
// by column.
std::vector<PlanEntry> optimal_plan(const Matrix& cost, std::span<const double> supply,
                                    std::span<const double> demand);

// The same where both sides hold `cost.rows()` points of mass 1/rows: an assignment.
std::vector<PlanEntry> optimal_matching(const Matrix& cost);

}  // namespace dfrost

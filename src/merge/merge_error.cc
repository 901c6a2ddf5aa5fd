#include "dfrost/error.h"
#include "dfrost/measure.h"
#include "dfrost/wasserstein.h"
#include "merge/neighbourhood.h"
#include "ot/checks.h"
#include "ot/row_kernels.h"
#include "ot/transport_plan.h"

namespace dfrost {

double merge_error(std::span<const MatrixView<const float>> senders, std::span<const double> weights,
                   MatrixView<const float> merged) {
  if (senders.empty()) throw Error(ErrorCode::invalid_argument, "no prompt sets to measure the merge of");
  const Neighbourhood all = gather({.senders = senders, .weights = weights}, {});
  check_points(merged, all.rows.cols(), "merged");
  DoubleMatrix costs(all.rows.rows(), merged.rows());
  squared_distances(all.rows, DoubleMatrix(merged), costs);
  const std::vector<double> demand(merged.rows(), 1.0 / static_cast<double>(merged.rows()));
  double error = 0;
  for (const auto& entry : optimal_plan(costs, all.mass, demand))
    error += entry.mass * costs(entry.from, entry.to);
  return error;
}

}  // namespace dfrost

#include "merge/custom_merge.h"

#include <fmt/format.h>

#include "base/finite.h"
#include "dfrost/error.h"
#include "merge/neighbourhood.h"
#include "merge/plan_summary.h"
#include "ot/row_kernels.h"
#include "ot/transport_plan.h"

namespace dfrost {

MergeSummary merge_by(const CustomMerge& custom, const MergeInput& input, std::size_t client,
                      std::size_t round, MatrixView<float> merged) {
  custom.merge(input, client, round, merged);
  for (std::size_t r = 0; r < merged.rows(); ++r) {
    if (all_finite(merged.row(r))) continue;
    throw Error(ErrorCode::failed_precondition,
                fmt::format("the merge '{}' gave client {} a prompt that is not finite in round {}",
                            custom.name, client, round),
                "return finite numbers, whatever the senders hold");
  }
  const Neighbourhood all = gather(input, {});
  DoubleMatrix costs(all.mass.size(), merged.rows());
  squared_distances(all.rows, DoubleMatrix(merged), costs);
  const std::vector<double> demand(merged.rows(), 1.0 / static_cast<double>(merged.rows()));
  std::vector<double> plan(all.mass.size() * merged.rows());
  for (const auto& entry : optimal_plan(costs, all.mass, demand))
    plan[entry.from * merged.rows() + entry.to] = entry.mass;
  return summary_of_plan(all, std::move(plan), merged.rows());
}

}  // namespace dfrost

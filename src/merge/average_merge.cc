#include <fmt/format.h>

#include "dfrost/error.h"
#include "merge/merge_kinds.h"
#include "merge/plan_summary.h"
#include "ot/row_kernels.h"

namespace dfrost {

MergedPrompts average_merge(const Neighbourhood& all, const MergeInput& input, std::size_t prompts,
                            const MergeOptions&) {
  const auto& senders = input.senders;
  for (std::size_t s = 0; s < senders.size(); ++s) {
    if (senders[s].rows() == prompts) continue;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("an average by index of {} prompts cannot take a set of {}", prompts, senders[s].rows()),
        "merge sets of different sizes with kind = ot or barycenter")
        .at(fmt::format("sender {}", s));
  }
  DoubleMatrix average(prompts, all.rows.cols());
  std::vector<double> plan(all.mass.size() * prompts);
  for (std::size_t a = 0; a < all.mass.size(); ++a) {
    add_scaled_row(all.rows.row(a), all.weights[a / prompts], average.row(all.index[a]));
    plan[a * prompts + all.index[a]] = all.mass[a];
  }
  MergedPrompts result{std::move(average), summary_of_plan(all, std::move(plan), prompts)};
  result.summary.steps = 1;
  result.summary.converged = true;
  return result;
}

}  // namespace dfrost

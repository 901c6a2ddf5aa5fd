#include "measure/merge_view.h"

#include <numeric>

namespace dfrost {
namespace {

// `row`: one row of the plan, what a prompt gave to each merged one.
void add_flows(std::size_t sender, std::size_t prompt, std::span<const double> row, MergeView& view) {
  const double mass = std::accumulate(row.begin(), row.end(), 0.0);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (mass > 0 && row[i] >= kLeastFlow * mass) view.plan.push_back({sender, prompt, i, row[i] / mass});
  }
}

}  // namespace

MergeView view_merge(std::span<const ClientId> clients, std::span<const MatrixView<const float>> senders,
                     MatrixView<const float> merged, const MergeSummary& summary) {
  MergeView view;
  const auto plane = principal_plane(senders);
  view.variance = plane.variance;
  view.merged = plane.project_all(merged);
  view.dead = summary.dead;
  std::span<const double> plan = summary.plan;
  for (std::size_t s = 0; s < senders.size(); ++s) {
    view.senders.push_back({clients[s], plane.project_all(senders[s])});
    for (std::size_t prompt = 0; prompt < senders[s].rows(); ++prompt) {
      add_flows(s, prompt, plan.first(merged.rows()), view);
      plan = plan.subspan(merged.rows());
    }
  }
  return view;
}

}  // namespace dfrost

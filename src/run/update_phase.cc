#include "run/update_phase.h"

#include "run/class_mass.h"
#include "run/moments_phase.h"
#include "run/state_merge.h"

namespace dfrost {

void UpdatePhase::work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const {
  note_prompts_before(node);
  if (merge_.head == HeadMerge::class_mass) refresh_mass(node, place.samples, merge_.mass, seed_);
  if (place.samples == nullptr || place.samples->size() == 0) return;
  const auto before = node.state.values;
  const auto optimizer_before = node.state.optimizer;  // empty where it starts fresh
  const auto summary = train(node, plan, place);
  // What is not a number would spread to every neighbour, and what is too large for one be refused by all.
  const bool diverged = !summary.finite || !may_be_sent(node.state.values);
  if (diverged) {
    return_to_last_good(node, before);
    node.state.optimizer = optimizer_before;
  }
  report.train = {summary.epoch_loss.empty() ? 0 : summary.epoch_loss.back(), summary.images, diverged};
}

LocalUpdateSummary UpdatePhase::train(Node& node, const RoundPlan& plan, Workplace place) const {
  const FramedHead framed(node, place.workspace);
  return local_update(node.adapter, node.state, *place.samples, train_, {seed_, node.id, plan.round},
                      place.workspace);
}

std::vector<Letter> UpdatePhase::letters(const Node& node, const RoundPlan& plan) const {
  return letters_of_state(node, plan);
}

std::vector<TensorPattern> UpdatePhase::expected(const Node& node) const {
  return patterns_of_state(node, merge_.head);
}

void UpdatePhase::absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const {
  keep_last_good(node, inbox);
  report.merge = merge_states(node, inbox, merge_, seed_, plan);
}

}  // namespace dfrost

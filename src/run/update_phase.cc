#include "run/update_phase.h"

#include "run/class_mass.h"
#include "run/moments_phase.h"
#include "run/state_merge.h"

namespace dfrost {

void UpdatePhase::work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const {
  note_prompts_before(node, merge_);
  if (merge_.head == HeadMerge::class_mass) refresh_mass(node, place.samples, merge_.mass, seed_);
  const std::size_t pictures = place.samples == nullptr ? 0 : place.samples->size();
  // Noise on what is sent must not tell who had nothing to train on.
  const bool protects_all = privacy_.options.kind == PrivacyKind::client;
  if (pictures == 0 && !protects_all) return;
  const auto before = node.state.values;
  const auto optimizer_before = node.state.optimizer;  // empty where it starts fresh
  LocalUpdateSummary summary;
  if (privacy_.options.kind == PrivacyKind::none)
    summary = train(node, train_, plan, place);
  else
    summary = train_privately(node, pictures, plan, place);
  // What is not a number would spread to every neighbour, and what is too large for one be refused by all.
  const bool diverged = !summary.finite || !may_be_sent(node.state.values);
  if (diverged) {
    // An update that was protected is no update where it was not finite, and to be sent like any other.
    if (!protects_all || !may_be_sent(node.state.values)) return_to_last_good(node, before);
    node.state.optimizer = optimizer_before;
  }
  report.train = {summary.epoch_loss.empty() ? 0 : summary.epoch_loss.back(), summary.images, diverged};
}

LocalUpdateSummary UpdatePhase::train(Node& node, const TrainOptions& options, const RoundPlan& plan,
                                      Workplace place) const {
  const FramedHead framed(node, place.workspace);
  return local_update(node.adapter, node.state, *place.samples, options, {seed_, node.id, plan.round},
                      place.workspace);
}

LocalUpdateSummary UpdatePhase::train_privately(Node& node, std::size_t pictures, const RoundPlan& plan,
                                                Workplace place) const {
  const auto steps = steps_of_round(privacy_, train_, pictures, node);
  charge(steps, node);
  TrainOptions options = train_;
  if (privacy_.options.kind == PrivacyKind::examples) {
    options.pictures = {privacy_.options.clip, steps.noise, privacy_.origin};
    return train(node, options, plan, place);
  }
  const auto before = node.state.values;
  LocalUpdateSummary summary;
  if (pictures > 0) summary = train(node, options, plan, place);
  protect_update(privacy_, steps.noise, {seed_, node.id, plan.round}, before, node.state.values);
  return summary;
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

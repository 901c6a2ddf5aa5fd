#include "run/gradient_phases.h"

#include <utility>

#include "base/finite.h"
#include "kernels/vector_ops.h"
#include "run/class_mass.h"
#include "run/moments_phase.h"
#include "run/state_merge.h"

namespace dfrost {
namespace {

constexpr std::string_view kGradient = "gradient";                // DGD, within a round
constexpr std::string_view kPreviousState = "d2.previous_state";  // D², from round to round
constexpr std::string_view kPreviousGradient = "d2.previous_gradient";

NodeTensor flat(std::vector<float> values) {
  const std::size_t size = values.size();
  return {{size}, std::move(values)};
}

}  // namespace

std::vector<Letter> GradientPhase::letters(const Node& node, const RoundPlan& plan) const {
  return letters_of_state(node, plan);
}

std::vector<TensorPattern> GradientPhase::expected(const Node& node) const {
  return patterns_of_state(node, merge_.head);
}

std::vector<float> GradientPhase::differentiate(Node& node, const RoundPlan& plan, Workplace place,
                                                NodeReport& report) const {
  note_prompts_before(node, merge_);
  if (merge_.head == HeadMerge::class_mass) refresh_mass(node, place.samples, merge_.mass, seed_);
  std::vector<float> gradient(node.state.values.size(), 0.0f);
  if (place.samples == nullptr || place.samples->size() == 0) return gradient;
  const auto summary = [&] {
    const FramedHead framed(node, place.workspace);
    const auto all = local_gradient(node.adapter, node.state, *place.samples, gradient_,
                                    {seed_, node.id, plan.round}, place.workspace, gradient);
    framed.turn_back(gradient);
    return all;
  }();
  const bool finite = all_finite(gradient);
  report.train = {summary.loss, summary.images, !finite};
  if (finite) return gradient;
  go_back(node);
  return {};
}

void GradientPhase::merge(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const {
  report.merge = merge_states(node, inbox, merge_, seed_, plan);
}

void DgdPhase::go_back(Node& node) const { return_to_last_good(node, node.state.values); }

void DgdPhase::work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const {
  node.draft[std::string(kGradient)] = flat(differentiate(node, plan, place, report));
}

void DgdPhase::absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const {
  keep_last_good(node, inbox);
  merge(node, inbox, plan, report);
  const auto& gradient = node.draft.find(kGradient)->second.values;
  if (gradient.empty()) return;
  auto stepped = node.state.values;
  add_scaled(-rate(), gradient, stepped);
  report.train.diverged = !may_be_sent(stepped);
  if (!report.train.diverged) node.state.values = std::move(stepped);
}

// What it remembers is the last state that had a gradient, and the gradient: from there it starts anew.
void D2Phase::go_back(Node& node) const {
  const auto state = node.memory.find(kPreviousState);
  if (state == node.memory.end()) return;
  node.state.values = state->second.values;
  node.memory.erase(std::string(kPreviousState));
  node.memory.erase(std::string(kPreviousGradient));
}

// The state becomes what is sent; the merge then makes it the next state.
void D2Phase::work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const {
  auto gradient = differentiate(node, plan, place, report);
  if (gradient.empty()) return;  // a round without a step: what is remembered stays
  auto& values = node.state.values;
  const auto state = values;
  const auto last_state = node.memory.find(kPreviousState);
  if (last_state == node.memory.end()) {
    add_scaled(-rate(), gradient, values);
  } else {
    const auto& x = last_state->second.values;
    const auto& g = node.memory.find(kPreviousGradient)->second.values;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = 2 * state[i] - x[i] - rate() * (gradient[i] - g[i]);
  }
  if (!may_be_sent(values)) {
    values = state;
    report.train.diverged = true;
    return;
  }
  node.memory.insert_or_assign(std::string(kPreviousState), flat(state));
  node.memory.insert_or_assign(std::string(kPreviousGradient), flat(std::move(gradient)));
}

void D2Phase::absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const {
  merge(node, inbox, plan, report);
}

}  // namespace dfrost

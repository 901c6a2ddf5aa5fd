#include "run/pool_phase.h"

#include "run/average_part.h"
#include "run/pool_growth.h"
#include "run/state_merge.h"

namespace dfrost {

void PoolPhase::work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const {
  const PromptsInUse in_use(place.workspace);
  update_.work(node, plan, place, report);
  in_use.note(node, merge_.pool.kind);
}

std::vector<Letter> PoolPhase::letters(const Node& node, const RoundPlan& plan) const {
  auto letters = letters_of_state(node, plan);
  const auto prompts = prompts_to_send(node);
  for (auto& letter : letters)
    for (auto& tensor : letter.tensors)
      if (tensor.name == kPromptPart)
        tensor = {tensor.name,
                  {prompts.rows(), prompts.cols()},
                  std::span(prompts.data(), prompts.rows() * prompts.cols())};
  return letters;
}

std::vector<TensorPattern> PoolPhase::expected(const Node& node) const { return patterns_of_state(node); }

void PoolPhase::absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const {
  keep_last_good(node, inbox);
  if (inbox.messages.empty()) return;
  std::vector<MatrixView<const float>> senders = {prompts_to_send(node)};
  for (const auto& message : inbox.messages) {
    const auto& tensor = message.tensors.find(kPromptPart)->second;
    senders.emplace_back(tensor.values.data(), tensor.shape.front(), tensor.shape.back());
  }
  report.merge =
      grow_pool(node, senders, merge_.pool, RandomStream(seed_, "merge", node.id, plan.round).next());
  if (merge_.head == HeadMerge::own) return;
  for (const auto& part : node.state.layout.parts()) {
    if (part.name == kPromptPart) continue;
    average_part(part.name, inbox.messages, inbox.weights, inbox.self_weight,
                 std::span(node.state.values).subspan(part.offset, part.size));
  }
}

}  // namespace dfrost

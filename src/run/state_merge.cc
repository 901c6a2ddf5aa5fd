#include "run/state_merge.h"

#include <algorithm>

#include "base/stopwatch.h"
#include "dfrost/measure.h"
#include "dfrost/merge.h"
#include "merge/custom_merge.h"
#include "merge/merge_kinds.h"
#include "run/average_part.h"
#include "run/class_mass.h"
#include "run/pool_keys.h"

namespace dfrost {
namespace {

// A part of the client's own, then of every sender.
std::vector<MatrixView<const float>> part_of_all(const Node& node, const Inbox& inbox,
                                                 std::string_view name) {
  std::vector<MatrixView<const float>> all = {node.state.part(name)};
  const std::size_t width = all.front().cols();
  for (const auto& message : inbox.messages) {
    const auto& tensor = message.tensors.find(name)->second;
    all.emplace_back(tensor.values.data(), tensor.shape.front(), width);
  }
  return all;
}

std::vector<ClientId> ids_of_all(const Node& node, const Inbox& inbox) {
  std::vector<ClientId> all = {node.id};
  for (const auto& message : inbox.messages) all.push_back(message.sender());
  return all;
}

// What is not moved by the merge of the prompts, `summary`, is averaged or stays.
void merge_all_but_prompts(const Inbox& inbox, const MergeSection& options, const MergeSummary& summary,
                           Node& node) {
  for (const auto& part : node.state.layout.parts()) {
    if (part.name == kPromptPart) continue;
    if (part.name == kKeysPart && (options.custom || traits_of(options.kind).transports)) {
      merge_keys(part_of_all(node, inbox, kKeysPart), summary, node.state.part(kKeysPart));
    } else if (options.head == HeadMerge::class_mass && has_class_rows(node, part.name)) {
      continue;
    } else if (options.head != HeadMerge::own) {
      average_part(part.name, inbox.messages, inbox.weights, inbox.self_weight,
                   std::span(node.state.values).subspan(part.offset, part.size));
    }
  }
  if (options.head == HeadMerge::class_mass) merge_class_rows(node, inbox, options.mass);
}

// The mixing weights of the client itself and of each sender, or none for equal ones.
std::vector<double> sender_weights(const Inbox& inbox, const MergeSection& options) {
  const bool needed = traits_of(options.kind).needs_mixing_weights || options.custom != nullptr;
  if (!needed && options.weights == SenderWeights::equal) return {};
  std::vector<double> weights = {inbox.self_weight};
  weights.insert(weights.end(), inbox.weights.begin(), inbox.weights.end());
  return weights;
}

}  // namespace

void note_prompts_before(Node& node) {
  const auto prompts = node.state.prompts();
  auto& noted = node.draft[std::string(kPromptsBefore)];
  noted.shape = {prompts.rows(), prompts.cols()};
  noted.values.assign(prompts.data(), prompts.data() + prompts.rows() * prompts.cols());
}

void keep_last_good(Node& node, const Inbox& inbox) {
  const std::string name(kLastGood);
  if (inbox.messages.empty()) {
    node.memory.erase(name);
  } else {
    node.memory.insert_or_assign(name, NodeTensor{{node.state.values.size()}, node.state.values});
  }
}

void return_to_last_good(Node& node, std::vector<float> before) {
  const auto good = node.memory.find(kLastGood);
  const bool fits = good != node.memory.end() && good->second.values.size() == before.size();
  node.state.values = fits ? good->second.values : std::move(before);
}

std::vector<Letter> letters_of_state(const Node& node, const RoundPlan& plan) {
  const auto neighbours = plan.mixing.graph().neighbours(node.id);
  if (neighbours.empty()) return {};
  auto tensors = tensors_of(node.state);
  if (const auto mass = node.memory.find(kMass); mass != node.memory.end())
    tensors.push_back({mass->first, mass->second.shape, mass->second.values});
  return {{{neighbours.begin(), neighbours.end()}, std::move(tensors)}};
}

std::vector<TensorPattern> patterns_of_state(const Node& node, HeadMerge head) {
  std::vector<TensorPattern> patterns;
  if (head == HeadMerge::class_mass) patterns.push_back(mass_pattern(node));
  for (const auto& part : node.state.layout.parts()) {
    patterns.push_back({part.name, part.shape});
    if (part.name != kPromptPart) continue;
    patterns.back().shape.front() = 0;
    patterns.back().most = node.most_prompts;
  }
  return patterns;
}

MergeOutcome merge_states(Node& node, const Inbox& inbox, const MergeSection& options, Seed seed,
                          const RoundPlan& plan) {
  if (inbox.messages.empty()) return {};
  const Stopwatch merging;
  const auto own = node.state.prompts();
  const auto senders = part_of_all(node, inbox, kPromptPart);
  const auto weights = sender_weights(inbox, options);
  MergeOptions how = options;
  how.seed = RandomStream(seed, "merge", node.id, plan.round).next();
  const auto before = node.draft.find(kPromptsBefore);
  const float* previous = before == node.draft.end() ? own.data() : before->second.values.data();
  std::vector<float> merged(own.rows() * own.cols());
  const MatrixView<float> result(merged.data(), own.rows(), own.cols());
  const MergeInput input{senders, weights, {previous, own.rows(), own.cols()}};
  const auto summary = options.custom ? merge_by(*options.custom, input, node.id, plan.round, result)
                                      : merge(input, how, result);
  merge_all_but_prompts(inbox, options, summary, node);
  const double merge_seconds = merging.seconds();

  const Stopwatch measuring;
  MergeOutcome report{.merged = true,
                      .off_index_mass = summary.off_index_mass,
                      .error = merge_error(senders, weights, result),
                      .dead_prompts = summary.died.size(),
                      .theorem = summary.theorem,
                      .merge_seconds = merge_seconds};
  if (plan.has_view(node.id)) {
    report.view = view_merge(ids_of_all(node, inbox), senders, result, summary);
    report.view->round = plan.round;
    report.view->kind = options.kind;
  }
  report.measure_seconds = measuring.seconds();
  std::ranges::copy(merged, own.data());  // last: the client's own prompts are among the senders
  return report;
}

}  // namespace dfrost

#include "run/state_merge.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/stopwatch.h"
#include "dfrost/measure.h"
#include "dfrost/merge.h"
#include "merge/custom_merge.h"
#include "merge/merge_kinds.h"
#include "run/average_part.h"
#include "run/class_mass.h"
#include "run/defence.h"
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

// What is not moved by the merge of the prompts, `summary`, is averaged or stays. Keys are of whom prompts
// are of, `believed`; all else is of `inbox`, as defences have left it, or `averaged` already.
void merge_all_but_prompts(const Inbox& believed, const Inbox& inbox, const MergeSection& options,
                           const MergeSummary& summary, bool averaged, Node& node) {
  const RobustMeanOptions mean = mean_options(options.defence);
  for (const auto& part : node.state.layout.parts()) {
    if (part.name == kPromptPart) continue;
    if (part.name == kKeysPart && (options.custom || traits_of(options.kind).transports)) {
      merge_keys(part_of_all(node, believed, kKeysPart), summary, node.state.part(kKeysPart));
    } else if (options.head == HeadMerge::class_mass && has_class_rows(node, part.name)) {
      continue;
    } else if (part.name == kKeysPart && options.weights == SenderWeights::mass) {
      const auto weights = weights_by_mass(node, inbox, options);  // as the prompts that they belong to
      average_part(part.name, inbox.messages, std::span(weights).subspan(1), weights.front(),
                   std::span(node.state.values).subspan(part.offset, part.size));
    } else if (options.head != HeadMerge::own && !averaged) {
      average_part(part.name, inbox.messages, inbox.weights, inbox.self_weight,
                   std::span(node.state.values).subspan(part.offset, part.size));
    }
  }
  if (options.head == HeadMerge::class_mass) merge_class_rows(node, inbox, options.mass, mean);
}

// Mass that each sender's rows have in the plan, [rows of all, n].
std::vector<SenderMass> mass_of_senders(std::span<const ClientId> ids,
                                        std::span<const MatrixView<const float>> senders,
                                        std::span<const double> plan, std::size_t prompts) {
  std::vector<SenderMass> masses;
  for (std::size_t s = 0; s < senders.size(); ++s) {
    const auto own = plan.first(senders[s].rows() * prompts);
    masses.push_back({ids[s], std::accumulate(own.begin(), own.end(), 0.0)});
    plan = plan.subspan(own.size());
  }
  return masses;
}

// What the prompts of the client itself and of each sender weigh, or none where they do alike.
std::vector<double> sender_weights(const Node& node, const Inbox& inbox, const MergeSection& options) {
  if (options.weights == SenderWeights::mass) return weights_by_mass(node, inbox, options);
  const bool needed = traits_of(options.kind).needs_mixing_weights || options.custom != nullptr;
  if (!needed && options.weights == SenderWeights::equal) return {};
  std::vector<double> weights = {inbox.self_weight};
  weights.insert(weights.end(), inbox.weights.begin(), inbox.weights.end());
  return weights;
}

}  // namespace

MatrixView<const float> metric_of(const MergeSection& options, std::size_t width) {
  if (!options.metric_map) return {};
  return {options.metric_map->data(), options.metric_map->size() / width, width};
}

void note_prompts_before(Node& node, const MergeSection& options) {
  if (options.init != MergeInit::previous && !options.custom) return;
  const auto prompts = node.state.prompts();
  auto& noted = node.draft[std::string(kPromptsBefore)];
  noted.shape = {prompts.rows(), prompts.cols()};
  noted.values.assign(prompts.data(), prompts.data() + prompts.rows() * prompts.cols());
}

void keep_last_good(Node& node, const Inbox& inbox) {
  const std::string name(kLastGood);
  if (inbox.messages.empty()) {
    node.memory.erase(name);
    return;
  }
  NodeTensor& good = node.memory[name];
  good.shape = {node.state.values.size()};
  good.values = node.state.values;  // in its memory of the last round
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

namespace {

// The prompt sets that are merged, own first, as far as they are believed.
struct PromptSenders {
  std::vector<MatrixView<const float>> sets;
  std::vector<std::vector<float>> clipped = {};  // what sets may point into
  std::vector<std::vector<double>> masses = {};  // of their rows; empty: all alike
};

PromptSenders prompt_senders(const Node& node, const Inbox& inbox, const MergeSection& options,
                             DefenceOutcome& report) {
  PromptSenders senders{part_of_all(node, inbox, kPromptPart)};
  if (!options.defence.clip.is_on()) return senders;
  const std::size_t width = senders.sets.front().cols();
  auto clipped = clip_sets(senders.sets, options.defence.clip);
  for (std::size_t s = 0; s < clipped.size(); ++s) {
    if (!clipped[s].is_clipped()) continue;
    report.clipped_prompts.push_back(inbox.messages[s].sender());
    const auto& points = clipped[s].points;
    const auto& kept = senders.clipped.emplace_back(points.begin(), points.end());
    senders.sets[s + 1] = {kept.data(), kept.size() / width, width};
    if (clipped[s].masses.empty()) continue;
    senders.masses.resize(senders.sets.size());
    senders.masses[s + 1] = std::move(clipped[s].masses);
  }
  return senders;
}

// What is averaged by index, as one vector. Prompts that are so go to `merged`: the node's own ones stay
// until all is merged. False where nothing is beyond the limits: the plain merge then does it, to the last
// bit.
bool merge_robustly(const Inbox& inbox, const MergeSection& options, Node& node, std::span<float> merged) {
  const auto mean = mean_options(options.defence);
  if (mean.is_plain()) return false;
  auto values = node.state.values;
  const auto parts = averaged_parts(node, options);
  if (!average_parts(parts, inbox, mean, values)) return false;
  for (const auto* part : parts) {
    const auto robust = std::span(values).subspan(part->offset, part->size);
    std::ranges::copy(robust, part->name == kPromptPart
                                  ? merged.begin()
                                  : std::span(node.state.values).subspan(part->offset).begin());
  }
  return true;
}

}  // namespace

MergeOutcome merge_states(Node& node, const Inbox& inbox, const MergeSection& options, Seed seed,
                          const RoundPlan& plan) {
  if (inbox.messages.empty()) return {};
  const Stopwatch merging;
  DefenceOutcome defence;
  const Defended defended(node, inbox, options, defence);
  const bool by_index = !options.custom && !traits_of(options.kind).transports;
  const Inbox& of_prompts = by_index ? defended.averaged() : defended.believed();
  const auto own = node.state.prompts();
  if (own.empty()) {
    std::vector<float> no_prompts;
    const bool averaged = merge_robustly(defended.averaged(), options, node, no_prompts);
    merge_all_but_prompts(of_prompts, defended.averaged(), options, {}, averaged, node);
    return {.merged = true, .defence = std::move(defence), .merge_seconds = merging.seconds()};
  }
  const auto senders = prompt_senders(node, of_prompts, options, defence);
  const auto weights = sender_weights(node, of_prompts, options);
  MergeOptions how = options;
  how.seed = RandomStream(seed, "merge", node.id, plan.round).next();
  const auto before = node.draft.find(kPromptsBefore);
  const float* previous = before == node.draft.end() ? own.data() : before->second.values.data();
  std::vector<float> merged(own.rows() * own.cols());
  const MatrixView<float> result(merged.data(), own.rows(), own.cols());
  const MergeInput input{senders.sets,
                         weights,
                         {previous, own.rows(), own.cols()},
                         senders.masses,
                         metric_of(options, own.cols())};
  const auto summary = options.custom ? merge_by(*options.custom, input, node.id, plan.round, result)
                                      : merge(input, how, result);
  defence.softened_mass = summary.softened_mass;
  const bool averaged = merge_robustly(defended.averaged(), options, node, merged);
  merge_all_but_prompts(of_prompts, defended.averaged(), options, summary, averaged, node);
  const double merge_seconds = merging.seconds();

  const Stopwatch measuring;
  const auto ids = ids_of_all(node, of_prompts);
  MergeOutcome report{.merged = true,
                      .off_index_mass = summary.off_index_mass,
                      .error = merge_error(senders.sets, weights, result),
                      .dead_prompts = summary.died.size(),
                      .theorem = summary.theorem,
                      .senders = mass_of_senders(ids, senders.sets, summary.plan, own.rows()),
                      .defence = std::move(defence),
                      .merge_seconds = merge_seconds};
  if (plan.has_view(node.id)) {
    report.view = view_merge(ids, senders.sets, result, summary);
    report.view->round = plan.round;
    report.view->kind = options.kind;
  }
  report.measure_seconds = measuring.seconds();
  std::ranges::copy(merged, own.data());  // last: the client's own prompts are among the senders
  return report;
}

}  // namespace dfrost

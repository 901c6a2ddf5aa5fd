#include "run/server_phases.h"

#include <algorithm>

#include "base/stopwatch.h"
#include "dfrost/measure.h"
#include "merge/merge_kinds.h"
#include "run/average_part.h"
#include "run/pool_growth.h"
#include "run/pool_keys.h"
#include "run/state_merge.h"

namespace dfrost {
namespace {

constexpr std::string_view kPictures = "pictures";  // in a letter and a client's draft: how many it has
constexpr std::string_view kServed = "served";      // in a client's draft: it has the server's state

std::vector<FloatTensor> shared_tensors(const Node& node, const MergeSection& merge) {
  auto tensors = tensors_of(node.state);
  std::erase_if(tensors, [&](const FloatTensor& tensor) { return !is_shared(tensor.name, merge); });
  return tensors;
}

std::vector<TensorPattern> shared_patterns(const Node& node, const MergeSection& merge) {
  std::vector<TensorPattern> patterns;
  for (const auto& part : node.state.layout.parts()) {
    if (!is_shared(part.name, merge)) continue;
    patterns.push_back({part.name, part.shape});
    if (part.name != kPromptPart && part.name != kKeysPart) continue;
    patterns.back().shape.front() = 0;
    patterns.back().most = node.most_prompts;
  }
  return patterns;
}

std::vector<ClientId> linked_to(const Node& node, const RoundPlan& plan) {
  const auto neighbours = plan.mixing.graph().neighbours(node.id);
  return {neighbours.begin(), neighbours.end()};
}

// By pictures; all alike where nobody has any.
std::vector<double> picture_weights(const Inbox& inbox) {
  std::vector<double> weights;
  double sum = 0;
  for (const auto& message : inbox.messages) {
    weights.push_back(std::max(0.0, static_cast<double>(message.tensors.find(kPictures)->second.values[0])));
    sum += weights.back();
  }
  for (double& weight : weights) weight = sum > 0 ? weight / sum : 1.0 / static_cast<double>(weights.size());
  return weights;
}

std::vector<MatrixView<const float>> part_of_senders(const Inbox& inbox, std::string_view name) {
  std::vector<MatrixView<const float>> all;
  for (const auto& message : inbox.messages) {
    const auto& tensor = message.tensors.find(name)->second;
    all.emplace_back(tensor.values.data(), tensor.shape.front(), tensor.shape.back());
  }
  return all;
}

// The server is no sender: what it has is where a merge by transport starts from.
MergeOutcome merge_collected(Node& server, const Inbox& inbox, std::span<const double> by_pictures,
                             const MergeSection& options, std::uint64_t seed) {
  const Stopwatch merging;
  const auto senders = part_of_senders(inbox, kPromptPart);
  const auto own = server.state.prompts();
  const bool weighted =
      traits_of(options.kind).needs_mixing_weights || options.weights == SenderWeights::mixing;
  const auto weights = weighted ? by_pictures : std::span<const double>();
  MergeOptions how = options;
  how.seed = seed;
  if (how.init == MergeInit::own) how.init = MergeInit::previous;
  std::vector<float> merged(own.rows() * own.cols());
  const MatrixView<float> result(merged.data(), own.rows(), own.cols());
  const auto summary = merge({senders, weights, own, {}, metric_of(options, own.cols())}, how, result);
  for (const auto& part : server.state.layout.parts()) {
    if (part.name == kPromptPart || !is_shared(part.name, options)) continue;
    if (part.name == kKeysPart && traits_of(options.kind).transports)
      merge_keys(part_of_senders(inbox, kKeysPart), summary, server.state.part(kKeysPart));
    else
      average_part(part.name, inbox.messages, by_pictures, 0,
                   std::span(server.state.values).subspan(part.offset, part.size));
  }
  const double merge_seconds = merging.seconds();
  const Stopwatch measuring;
  MergeOutcome outcome{.merged = true,
                       .off_index_mass = summary.off_index_mass,
                       .error = merge_error(senders, weights, result),
                       .dead_prompts = summary.died.size(),
                       .theorem = summary.theorem,
                       .merge_seconds = merge_seconds};
  outcome.measure_seconds = measuring.seconds();
  std::ranges::copy(merged, own.data());
  return outcome;
}

}  // namespace

bool is_shared(std::string_view part, const MergeSection& merge) {
  if (part == kPromptPart || part == kKeysPart) return true;  // keys go with their prompts
  return merge.head != HeadMerge::own;
}

Node served_model(const Node& server, const Node& client, const MergeSection& merge) {
  Node model = client;
  resize_prompts(server.state.prompts().rows(), model.adapter, model.state);
  for (const auto& part : server.state.layout.parts()) {
    if (!is_shared(part.name, merge)) continue;
    const auto theirs = std::span(server.state.values).subspan(part.offset, part.size);
    std::ranges::copy(theirs, model.state.part(part.name).data());
  }
  return model;
}

void HandOutPhase::work(Node&, const RoundPlan&, Workplace, NodeReport&) const {}

std::vector<Letter> HandOutPhase::letters(const Node& node, const RoundPlan& plan) const {
  const auto clients = linked_to(node, plan);
  if (clients.empty()) return {};
  return {{clients, shared_tensors(node, merge_)}};
}

std::vector<TensorPattern> HandOutPhase::expected(const Node& node) const {
  return shared_patterns(node, merge_);
}

void HandOutPhase::absorb(Node& node, const Inbox& inbox, const RoundPlan&, NodeReport&) const {
  if (node.role == NodeRole::server || inbox.messages.empty()) return;
  const auto& tensors = inbox.messages.front().tensors;
  const auto& prompts = tensors.find(kPromptPart)->second;
  resize_prompts(prompts.shape.front(), node.adapter, node.state);
  for (const auto& [name, tensor] : tensors) std::ranges::copy(tensor.values, node.state.part(name).data());
  node.draft[std::string(kServed)] = {};
}

void CollectPhase::work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const {
  if (node.role == NodeRole::server || !node.draft.contains(kServed)) return;
  const PromptsInUse in_use(place.workspace);
  update_.work(node, plan, place, report);
  in_use.note(node, merge_.pool.kind);
  const std::size_t pictures = place.samples == nullptr ? 0 : place.samples->size();
  node.draft[std::string(kPictures)] = {{1}, {static_cast<float>(pictures)}};
}

std::vector<Letter> CollectPhase::letters(const Node& node, const RoundPlan& plan) const {
  const auto pictures = node.draft.find(kPictures);
  if (pictures == node.draft.end()) return {};
  auto tensors = shared_tensors(node, merge_);
  const auto prompts = prompts_to_send(node);
  for (auto& tensor : tensors)
    if (tensor.name == kPromptPart)
      tensor = {tensor.name,
                {prompts.rows(), prompts.cols()},
                std::span(prompts.data(), prompts.rows() * prompts.cols())};
  tensors.push_back({pictures->first, pictures->second.shape, pictures->second.values});
  return {{linked_to(node, plan), std::move(tensors)}};
}

std::vector<TensorPattern> CollectPhase::expected(const Node& node) const {
  auto patterns = shared_patterns(node, merge_);
  patterns.push_back({.name = std::string(kPictures), .shape = {1}, .least_value = 0});
  return patterns;
}

void CollectPhase::absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const {
  if (node.role == NodeRole::client || inbox.messages.empty()) return;
  const auto weights = picture_weights(inbox);
  const auto seed = RandomStream(seed_, "merge", node.id, plan.round).next();
  if (merge_.pool.kind == PoolMerge::fixed) {
    report.merge = merge_collected(node, inbox, weights, merge_, seed);
    return;
  }
  report.merge = grow_pool(node, part_of_senders(inbox, kPromptPart), merge_.pool, seed);
  for (const auto& part : node.state.layout.parts())
    if (part.name != kPromptPart && is_shared(part.name, merge_))
      average_part(part.name, inbox.messages, weights, 0,
                   std::span(node.state.values).subspan(part.offset, part.size));
}

}  // namespace dfrost

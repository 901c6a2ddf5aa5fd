#include "run/ntk_phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/stopwatch.h"
#include "run/average_part.h"
#include "run/state_merge.h"
#include "train/head.h"
#include "train/kernel_evolution.h"
#include "train/tangent_kernel.h"

namespace dfrost {
namespace {

// A kernel that needs more is of weights that have diverged.
constexpr std::size_t kMostSolverSteps = 10'000;

// In a letter, and in the draft of who writes it.
constexpr std::string_view kOutputs = "tangent.outputs", kLabels = "tangent.labels";
std::string inputs_name(std::size_t layer) { return fmt::format("tangent.inputs.{}", layer); }

// In the draft: first class and number of classes of each domain.
constexpr std::string_view kDomains = "domains";

// In the draft: the state that a neighbour asked about, its values one part after the other and, as their
// shape, how many prompts it has; and what is answered. Features that are also those under the node's own
// prompts are kept once, without a name.
std::string asked_by(ClientId peer) { return fmt::format("asked by {}", peer); }
std::string answer_to(ClientId peer, std::string_view tensor) {
  return fmt::format("{} to {}", tensor, peer);
}

std::size_t layers_of(const Node& node) {
  std::size_t layers = 0;
  while (node.state.layout.contains(head_weight_name(layers))) ++layers;
  return layers;
}

// All senders weigh alike, whoever came.
Inbox with_equal_weights(const Inbox& inbox) {
  Inbox equal = inbox;
  equal.self_weight = 1.0 / static_cast<double>(inbox.messages.size() + 1);
  std::ranges::fill(equal.weights, equal.self_weight);
  return equal;
}

NodeTensor as_tensor(MatrixView<const float> rows) {
  NodeTensor tensor{{rows.rows(), rows.cols()}, {}};
  tensor.values.reserve(rows.rows() * rows.cols());
  for (std::size_t r = 0; r < rows.rows(); ++r)
    tensor.values.insert(tensor.values.end(), rows.row(r).begin(), rows.row(r).end());
  return tensor;
}

// The node as it would be in the state that the neighbour sent.
Node as_asked(const Node& node, const NodeTensor& asked) {
  Node other;
  other.adapter = node.adapter;
  other.state = node.state;
  if (asked.shape.front() > 0) resize_prompts(asked.shape.front(), other.adapter, other.state);
  other.state.values = asked.values;
  return other;
}

// Whether features are the same: whatever stands before the head is.
bool same_features(const Node& a, const Node& b) {
  const std::size_t before = head_offset(a.state.layout);
  return before == head_offset(b.state.layout) &&
         std::equal(a.state.values.begin(), a.state.values.begin() + static_cast<std::ptrdiff_t>(before),
                    b.state.values.begin());
}

NodeTensor features_of(const Node& node, const SampleSource& source, std::span<const std::size_t> samples,
                       std::size_t batch, Workspace& w) {
  NodeTensor all{{samples.size(), node.state.part(head_weight_name(0)).cols()}, {}};
  all.values.reserve(all.shape[0] * all.shape[1]);
  for (std::size_t first = 0; first < samples.size(); first += batch) {
    load_features(node.adapter, node.state, source,
                  samples.subspan(first, std::min(batch, samples.size() - first)), w);
    const auto rows = head_inputs(node.adapter.head, w.backbone, w.features, w.head);
    for (std::size_t r = 0; r < rows.rows(); ++r)
      all.values.insert(all.values.end(), rows.row(r).begin(), rows.row(r).end());
  }
  return all;
}

MatrixView<const float> rows_of(const NodeTensor& tensor) {
  return {tensor.values.data(), tensor.shape.front(), tensor.shape.back()};
}

// A node without pictures knows of no domains, and lets all classes compete.
std::vector<Target> targets_of(const Node& node, std::span<const std::size_t> labels, ClassMask mask) {
  std::vector<Target> targets;
  for (const std::size_t label : labels) targets.push_back({label, {0, node.adapter.head.classes}});
  const auto domains = node.draft.find(kDomains);
  if (mask == ClassMask::none || domains == node.draft.end()) return targets;
  for (auto& target : targets) {
    for (std::size_t d = 0; d + 1 < domains->second.values.size(); d += 2) {
      const ClassRange range{static_cast<std::size_t>(domains->second.values[d]),
                             static_cast<std::size_t>(domains->second.values[d + 1])};
      if (range.contains(target.label)) target.domain = range;
    }
  }
  return targets;
}

// The pictures of all that answered, the node's own first.
class Union {
 public:
  Union(std::size_t layers, std::size_t classes) : inputs_(layers), classes_(classes) {}

  // False, and nothing is taken, where the tensors are not of the same pictures.
  template <typename Find>
  bool add(const Find& find) {
    const auto& labels = find(std::string(kLabels));
    const std::size_t pictures = labels.values.size();
    const auto fits = [&](const auto& tensor) { return tensor.shape.front() == pictures; };
    if (!fits(find(std::string(kOutputs)))) return false;
    for (std::size_t l = 0; l < inputs_.size(); ++l)
      if (!fits(find(inputs_name(l)))) return false;
    for (std::size_t l = 0; l < inputs_.size(); ++l) append(find(inputs_name(l)).values, inputs_[l]);
    append(find(std::string(kOutputs)).values, outputs_);
    for (const float label : labels.values) {
      const auto whole = static_cast<std::size_t>(std::lround(std::max(0.0f, label)));
      labels_.push_back(std::min(whole, classes_ - 1));
    }
    return true;
  }

  HeadTangent tangent() && {
    HeadTangent all;
    all.labels = std::move(labels_);
    for (const auto& values : inputs_) all.inputs.push_back(matrix(values, all.pictures()));
    all.outputs = matrix(outputs_, all.pictures());
    return all;
  }
  std::size_t pictures() const { return labels_.size(); }

 private:
  static void append(const std::vector<float>& values, std::vector<float>& all) {
    all.insert(all.end(), values.begin(), values.end());
  }
  static Matrix<float> matrix(const std::vector<float>& values, std::size_t rows) {
    Matrix<float> result(rows, values.size() / rows);
    std::ranges::copy(values, result.data());
    return result;
  }

  std::vector<std::vector<float>> inputs_;
  std::vector<float> outputs_;
  std::vector<std::size_t> labels_;
  std::size_t classes_;
};

}  // namespace

void NtkAveragePhase::work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const {
  if (prompts_ == NtkPrompts::trained) update_.work(node, plan, place, report);
}

std::vector<Letter> NtkAveragePhase::letters(const Node& node, const RoundPlan& plan) const {
  return letters_of_state(node, plan);
}

std::vector<TensorPattern> NtkAveragePhase::expected(const Node& node) const {
  return patterns_of_state(node);
}

void NtkAveragePhase::absorb(Node& node, const Inbox& inbox, const RoundPlan& plan,
                             NodeReport& report) const {
  const Inbox equal = with_equal_weights(inbox);
  if (prompts_ == NtkPrompts::trained) {
    keep_last_good(node, inbox);
    report.merge = merge_states(node, equal, merge_, seed_, plan);
    return;
  }
  if (merge_.head == HeadMerge::own) return;
  for (const auto& part : node.state.layout.parts())
    if (part.offset >= head_offset(node.state.layout))
      average_part(part.name, equal.messages, equal.weights, equal.self_weight,
                   std::span(node.state.values).subspan(part.offset, part.size));
}

std::vector<Letter> NtkAskPhase::letters(const Node& node, const RoundPlan& plan) const {
  return letters_of_state(node, plan);
}

std::vector<TensorPattern> NtkAskPhase::expected(const Node& node) const { return patterns_of_state(node); }

void NtkAskPhase::absorb(Node& node, const Inbox& inbox, const RoundPlan&, NodeReport&) const {
  for (const auto& message : inbox.messages) {
    const auto prompts = message.tensors.find(kPromptPart);
    NodeTensor asked{{prompts == message.tensors.end() ? 0 : prompts->second.shape.front()}, {}};
    for (const auto& part : node.state.layout.parts()) {
      const auto& values = message.tensors.find(part.name)->second.values;
      asked.values.insert(asked.values.end(), values.begin(), values.end());
    }
    node.draft[asked_by(message.sender())] = std::move(asked);
  }
}

void NtkAnswerPhase::work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const {
  if (place.samples == nullptr || place.samples->size() == 0) return;
  std::vector<std::size_t> chosen(place.samples->size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  if (chosen.size() > options_.pictures) {
    chosen = RandomStream(seed_, "pictures of a kernel", node.id, plan.round).permutation(chosen.size());
    chosen.resize(options_.pictures);
    std::ranges::sort(chosen);
  }
  std::vector<std::size_t> labels;
  for (const std::size_t sample : chosen) labels.push_back(place.samples->label(sample));
  NodeTensors answers;
  answers[std::string(kLabels)] = {{labels.size()}, std::vector<float>(labels.begin(), labels.end())};
  auto& domains = answers[std::string(kDomains)];
  for (const auto& range : place.samples->domains()) {
    domains.values.push_back(static_cast<float>(range.first));
    domains.values.push_back(static_cast<float>(range.count));
  }
  answers[inputs_name(0)] = features_of(node, *place.samples, chosen, batch_, place.workspace);

  const auto answer = [&](const Node& at, ClientId to) {
    const bool same = same_features(at, node);
    NodeTensor own;
    if (!same) own = features_of(at, *place.samples, chosen, batch_, place.workspace);
    const auto tangent = head_tangent(at.state, rows_of(same ? answers[inputs_name(0)] : own), labels);
    for (std::size_t l = 1; l < tangent.inputs.size(); ++l)
      answers[answer_to(to, inputs_name(l))] = as_tensor(tangent.inputs[l]);
    answers[answer_to(to, kOutputs)] = as_tensor(tangent.outputs);
    if (!same) answers[answer_to(to, inputs_name(0))] = std::move(own);
  };
  answer(node, node.id);
  for (const ClientId peer : plan.mixing.graph().neighbours(node.id)) {
    const auto asked = node.draft.find(asked_by(peer));
    if (asked != node.draft.end()) answer(as_asked(node, asked->second), peer);
  }
  node.draft = std::move(answers);
  report.train.images += labels.size();
}

std::vector<Letter> NtkAnswerPhase::letters(const Node& node, const RoundPlan& plan) const {
  std::vector<Letter> letters;
  for (const ClientId peer : plan.mixing.graph().neighbours(node.id)) {
    if (!node.draft.contains(answer_to(peer, kOutputs))) continue;
    Letter letter{{peer}, {}};
    const auto add = [&](const std::string& name) {
      const auto own = node.draft.find(answer_to(peer, name));
      const auto& tensor = (own != node.draft.end() ? own : node.draft.find(name))->second;
      letter.tensors.push_back({name, tensor.shape, tensor.values});
    };
    for (std::size_t l = 0; l < layers_of(node); ++l) add(inputs_name(l));
    add(std::string(kOutputs));
    add(std::string(kLabels));
    letters.push_back(std::move(letter));
  }
  return letters;
}

std::vector<TensorPattern> NtkAnswerPhase::expected(const Node& node) const {
  std::vector<TensorPattern> patterns;
  const std::size_t layers = layers_of(node), most = options_.pictures;
  for (std::size_t l = 0; l < layers; ++l)
    patterns.push_back(
        {.name = inputs_name(l), .shape = {0, node.state.part(head_weight_name(l)).cols()}, .most = most});
  const std::size_t classes = node.adapter.head.classes;
  patterns.push_back({.name = std::string(kOutputs), .shape = {0, classes}, .most = most});
  patterns.push_back({.name = std::string(kLabels),
                      .shape = {0},
                      .most = most,
                      .least_value = 0,
                      .largest_value = static_cast<float>(classes - 1)});
  return patterns;
}

void NtkAnswerPhase::absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const {
  const Stopwatch moving;
  Union all(layers_of(node), node.adapter.head.classes);
  if (node.draft.contains(kLabels))
    all.add([&](const std::string& name) -> const NodeTensor& {
      const auto own = node.draft.find(answer_to(node.id, name));
      return (own != node.draft.end() ? own : node.draft.find(name))->second;
    });
  for (const auto& message : inbox.messages) {
    const bool taken = all.add(
        [&](const std::string& name) -> const ReceivedTensor& { return message.tensors.find(name)->second; });
    if (!taken) ++report.refused;
  }
  if (all.pictures() == 0) return;
  const auto tangent = std::move(all).tangent();
  const double rate = options_.rate * std::exp(-options_.decay * static_cast<double>(plan.round - 1));
  const auto evolution = evolve_outputs(tangent_kernel(node.state, tangent), tangent.outputs,
                                        targets_of(node, tangent.labels, mask_),
                                        {.rate = rate,
                                         .steps = options_.steps,
                                         .solver = {.relative = options_.relative_tolerance,
                                                    .absolute = options_.absolute_tolerance,
                                                    .most_steps = kMostSolverSteps}});
  report.kernel = KernelOutcome{tangent.pictures(), evolution.steps, evolution.solver.evaluations};
  report.train.loss = evolution.loss;
  auto moved = node.state.values;
  if (evolution.solver.finished)
    add_along_tangent(node.state, tangent, evolution.residual,
                      static_cast<float>(-rate / static_cast<double>(tangent.pictures())), moved);
  if (evolution.solver.finished && may_be_sent(moved))
    node.state.values = std::move(moved);
  else
    report.train.diverged = true;
  report.merge.merge_seconds += moving.seconds();
}

}  // namespace dfrost

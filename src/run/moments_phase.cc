#include "run/moments_phase.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "train/head.h"

namespace dfrost {
namespace {

constexpr std::string_view kCount = "moments.count", kMean = "moments.mean",
                           kCovariance = "moments.covariance";
constexpr std::string_view kFrameMean = "head.mean", kFrameFactor = "head.factor";

std::size_t inputs_of(const Node& node) { return node.state.part(head_weight_name(0)).cols(); }

void keep(Node& node, std::string_view name, std::span<const double> values) {
  node.memory.insert_or_assign(std::string(name),
                               NodeTensor{{values.size()}, std::vector<float>(values.begin(), values.end())});
}

void keep(Node& node, std::string_view name, std::vector<float> values) {
  const std::size_t size = values.size();
  node.memory.insert_or_assign(std::string(name), NodeTensor{{size}, std::move(values)});
}

void keep(Node& node, const InputMoments& moments) {
  keep(node, kCount, std::span(&moments.count, 1));
  keep(node, kMean, moments.mean);
  if (!moments.covariance.empty()) keep(node, kCovariance, moments.covariance);
}

InputMoments own_moments(const Node& node, const SampleSource* samples, bool with_products, std::size_t batch,
                         Workspace& w) {
  InputSums sums(inputs_of(node), with_products);
  if (samples == nullptr) return moments_of(sums);
  std::vector<std::size_t> all(samples->size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (std::size_t first = 0; first < all.size(); first += batch) {
    load_features(node.adapter, node.state, *samples,
                  std::span(all).subspan(first, std::min(batch, all.size() - first)), w);
    sums.add(head_inputs(node.adapter.head, w.backbone, w.features, w.head));
  }
  return moments_of(sums);
}

// Of so many times the values' root mean square.
void add_noise(double noise, RandomStream& stream, std::span<double> values) {
  double square = 0;
  for (const double value : values) square += value * value;
  const double deviation =
      noise * std::sqrt(square / static_cast<double>(std::max<std::size_t>(values.size(), 1)));
  for (double& value : values) value += deviation * stream.normal();
}

// What a node has of them, or a message brings, with its weight.
template <typename Tensors>
WeightedMoments weighted(double weight, const Tensors& tensors) {
  const auto values = [&](std::string_view name) {
    const auto found = tensors.find(name);
    return found == tensors.end() ? std::span<const float>() : std::span<const float>(found->second.values);
  };
  return {weight, values(kCount), values(kMean), values(kCovariance)};
}

}  // namespace

void MomentsPhase::work(Node& node, const RoundPlan&, Workplace place, NodeReport&) const {
  if (!turn_.first) return;
  const bool whitens = options_.coordinates == HeadCoordinates::whitened;
  auto moments = own_moments(node, place.samples, whitens, batch_, place.workspace);
  if (options_.noise > 0) {
    RandomStream stream(seed_, "moments", node.id);
    add_noise(options_.noise, stream, moments.mean);
    add_noise(options_.noise, stream, moments.covariance);
  }
  keep(node, moments);
}

std::vector<Letter> MomentsPhase::letters(const Node& node, const RoundPlan& plan) const {
  const auto neighbours = plan.mixing.graph().neighbours(node.id);
  if (neighbours.empty()) return {};
  Letter letter{{neighbours.begin(), neighbours.end()}, {}};
  for (const std::string_view name : {kCount, kMean, kCovariance}) {
    if (const auto found = node.memory.find(name); found != node.memory.end())
      letter.tensors.push_back({found->first, found->second.shape, found->second.values});
  }
  return {std::move(letter)};
}

std::vector<TensorPattern> MomentsPhase::expected(const Node& node) const {
  const std::size_t inputs = inputs_of(node);
  std::vector<TensorPattern> patterns = {{.name = std::string(kCount), .shape = {1}, .least_value = 0},
                                         {.name = std::string(kMean), .shape = {inputs}}};
  if (options_.coordinates == HeadCoordinates::whitened)
    patterns.push_back({.name = std::string(kCovariance), .shape = {triangle_size(inputs)}});
  return patterns;
}

void MomentsPhase::absorb(Node& node, const Inbox& inbox, const RoundPlan&, NodeReport&) const {
  std::vector<WeightedMoments> all = {weighted(inbox.self_weight, node.memory)};
  for (std::size_t s = 0; s < inbox.messages.size(); ++s)
    all.push_back(weighted(inbox.weights[s], inbox.messages[s].tensors));
  const auto mixed = mixed_moments(all);
  if (!turn_.last) return keep(node, mixed);
  for (const std::string_view name : {kCount, kMean, kCovariance}) node.memory.erase(std::string(name));
  if (auto parts = frame_parts(mixed, options_.shrinkage)) give_frame(std::move(*parts), node);
}

void give_frame(FrameParts parts, Node& node) {
  keep(node, kFrameMean, std::move(parts.mean));
  if (!parts.factor.empty()) keep(node, kFrameFactor, std::move(parts.factor));
}

std::vector<std::unique_ptr<const Phase>> moments_phases(const HeadFrameOptions& options, std::size_t batch,
                                                         Seed seed) {
  std::vector<std::unique_ptr<const Phase>> phases;
  if (options.coordinates == HeadCoordinates::raw || options.moments == MomentsOf::backbone) return phases;
  const bool exchanges = options.moments == MomentsOf::network;
  const std::size_t count = exchanges ? options.rounds : 1;
  for (std::size_t i = 0; i < count; ++i)
    phases.push_back(std::make_unique<MomentsPhase>(
        options, MomentsPhase::Turn{.first = i == 0, .last = i + 1 == count, .exchanges = exchanges}, batch,
        seed));
  return phases;
}

std::optional<HeadFrame> frame_of(const Node& node) {
  const auto mean = node.memory.find(kFrameMean), factor = node.memory.find(kFrameFactor);
  if (mean == node.memory.end()) return std::nullopt;
  return HeadFrame(mean->second.values,
                   factor == node.memory.end() ? std::span<const float>() : factor->second.values);
}

FramedHead::FramedHead(Node& node, Workspace& workspace)
    : node_(node), workspace_(workspace), frame_(frame_of(node)) {
  if (!frame_) return;
  frame_->enter(node.state.part(head_weight_name(0)), node.state.part(head_bias_name(0)).row(0));
  workspace.head.frame = &*frame_;
}

FramedHead::~FramedHead() {
  if (!frame_) return;
  workspace_.head.frame = nullptr;
  frame_->leave(node_.state.part(head_weight_name(0)), node_.state.part(head_bias_name(0)).row(0));
}

void FramedHead::turn_back(std::span<float> gradient) const {
  if (!frame_ || gradient.empty()) return;
  const auto& layout = node_.state.layout;
  frame_->leave(part_of(layout, gradient, head_weight_name(0)),
                part_of(layout, gradient, head_bias_name(0)).row(0));
}

}  // namespace dfrost

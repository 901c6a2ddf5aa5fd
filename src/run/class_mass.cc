#include "run/class_mass.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "train/head.h"

namespace dfrost {
namespace {

std::size_t last_layer(const StateLayout& layout) {
  std::size_t layer = 0;
  while (layout.contains(head_weight_name(layer + 1))) ++layer;
  return layer;
}

std::vector<std::string> class_parts(const StateLayout& layout) {
  const std::size_t layer = last_layer(layout);
  return {head_weight_name(layer), head_bias_name(layer)};
}

// Symmetric, of mean absolute value `scale`; exact zero at scale 0.
double draw_laplace(RandomStream& stream, double scale) {
  const double u = stream.uniform(-0.5, 0.5);
  return -scale * std::copysign(std::log1p(-2 * std::min(std::abs(u), 0.5 - 1e-12)), u);
}

// What the client says of its own pictures.
std::vector<double> told_counts(const Node& node, const SampleSource* samples, const MassOptions& options,
                                Seed seed) {
  std::vector<double> counts(node.adapter.head.classes, 0.0);
  if (samples == nullptr || samples->size() == 0) return counts;
  for (std::size_t i = 0; i < samples->size(); ++i) counts[samples->label(i)] += 1;
  RandomStream stream(seed, "class mass", node.id);
  const auto step = static_cast<double>(options.rounding);
  for (double& count : counts) {
    if (options.noise > 0) count = std::max(count + draw_laplace(stream, options.noise), 0.0);
    if (options.rounding > 1) count = std::round(count / step) * step;
  }
  return counts;
}

// Of all classes, each with the floor; more than `cap` of one is not believed, unless that is 0.
double total_mass(std::span<const float> masses, double floor, double cap) {
  double total = 0;
  for (const float mass : masses) {
    const auto told = static_cast<double>(mass);
    total += floor + (cap > 0 ? std::min(told, cap) : told);
  }
  return total;
}

// What the rows of one class weigh, or all prompts: the client's own first, then those of each sender.
class RowWeights {
 public:
  RowWeights(double self_weight, std::span<const double> weights, const MassOptions& options)
      : options_(options), mixing_{self_weight} {
    mixing_.insert(mixing_.end(), weights.begin(), weights.end());
  }

  // `mass`: of each. They sum to one.
  const std::vector<double>& of(std::span<const double> mass) {
    weights_.resize(mixing_.size());
    double sum = 0;
    for (std::size_t s = 0; s < weights_.size(); ++s) {
      weights_[s] = mixing_[s] * std::pow(options_.floor + mass[s], options_.power);
      sum += weights_[s];
    }
    const bool unknown = !(sum > 0) || !std::isfinite(sum);
    if (unknown) weights_ = mixing_;
    for (double& weight : weights_) weight /= unknown ? mixing_sum() : sum;
    return weights_;
  }

 private:
  double mixing_sum() const {
    double sum = 0;
    for (const double weight : mixing_) sum += weight;
    return sum;
  }

  const MassOptions& options_;
  std::vector<double> mixing_;
  std::vector<double> weights_;
};

// All rows of one class-wise part. `parts` and `masses`: of each sender; `merged` may be the first part.
void average_rows(std::span<const float* const> parts, std::span<const float* const> masses,
                  const StateLayout::Part& part, RowWeights& row_weights, const RobustMeanOptions& mean,
                  float* merged) {
  const std::size_t classes = part.shape.front(), width = part.size / classes;
  std::vector<const float*> rows(parts.size());
  std::vector<double> mass(parts.size());
  for (std::size_t c = 0; c < classes; ++c) {
    for (std::size_t s = 0; s < parts.size(); ++s) {
      rows[s] = parts[s] + c * width;
      mass[s] = static_cast<double>(masses[s][c]);
    }
    robust_mean({rows, row_weights.of(mass), width}, mean, {merged + c * width, width});
  }
}

}  // namespace

void refresh_mass(Node& node, const SampleSource* samples, const MassOptions& options, Seed seed) {
  const auto counts = told_counts(node, samples, options, seed);
  auto& mass = node.memory[std::string(kMass)];
  mass.shape = {counts.size()};
  mass.values.resize(counts.size(), 0.0f);
  for (std::size_t c = 0; c < counts.size(); ++c)
    mass.values[c] =
        static_cast<float>(std::max(counts[c], options.decay * static_cast<double>(mass.values[c])));
}

std::vector<double> weights_by_mass(const Node& node, const Inbox& inbox, const MergeSection& options) {
  const double cap = options.defence.mass_cap, floor = options.mass.floor;
  std::vector<double> pictures = {total_mass(node.memory.find(kMass)->second.values, floor, 0)};
  for (const auto& message : inbox.messages)
    pictures.push_back(total_mass(message.tensors.find(kMass)->second.values, floor, cap));
  // The floor of every class is among them already.
  const MassOptions of_sums{.power = options.mass.power};
  return RowWeights(inbox.self_weight, inbox.weights, of_sums).of(pictures);
}

TensorPattern mass_pattern(const Node& node) {
  // Mixing never makes one larger than the largest count there is.
  return {.name = std::string(kMass), .shape = {node.adapter.head.classes}, .least_value = 0};
}

bool has_class_rows(const Node& node, std::string_view part) {
  return std::ranges::count(class_parts(node.state.layout), part) > 0;
}

void merge_class_rows(Node& node, const Inbox& inbox, const MassOptions& options,
                      const RobustMeanOptions& mean) {
  RowWeights row_weights(inbox.self_weight, inbox.weights, options);
  auto& own_mass = node.memory.find(kMass)->second.values;
  std::vector<const float*> masses = {own_mass.data()};
  for (const auto& message : inbox.messages)
    masses.push_back(message.tensors.find(kMass)->second.values.data());
  for (const auto& name : class_parts(node.state.layout)) {
    const auto& part = node.state.layout.at(name);
    float* own = node.state.values.data() + part.offset;
    std::vector<const float*> parts = {own};
    for (const auto& message : inbox.messages)
      parts.push_back(message.tensors.find(name)->second.values.data());
    average_rows(parts, masses, part, row_weights, mean, own);
  }
  std::vector<double> weights = {inbox.self_weight};
  weights.insert(weights.end(), inbox.weights.begin(), inbox.weights.end());
  robust_mean({masses, weights, own_mass.size()}, {}, own_mass);
}

void average_class_rows(std::span<const Node> clients, const MassOptions& options, Node& mean) {
  const double share = 1 / static_cast<double>(clients.size());
  const std::vector<double> others(clients.size() - 1, share);
  RowWeights row_weights(share, others, options);
  std::vector<const float*> masses;
  const std::vector<float> nothing(mean.adapter.head.classes, 0.0f);  // before the first round
  for (const auto& client : clients) {
    const auto mass = client.memory.find(kMass);
    masses.push_back(mass == client.memory.end() ? nothing.data() : mass->second.values.data());
  }
  for (const auto& name : class_parts(mean.state.layout)) {
    const auto& part = mean.state.layout.at(name);
    std::vector<const float*> parts;
    for (const auto& client : clients) parts.push_back(client.state.part(name).data());
    average_rows(parts, masses, part, row_weights, {}, mean.state.values.data() + part.offset);
  }
}

}  // namespace dfrost

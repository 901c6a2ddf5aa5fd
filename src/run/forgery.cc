#include "run/forgery.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dfrost/wasserstein.h"
#include "merge/robust_mean.h"
#include "network/message.h"
#include "run/class_mass.h"

namespace dfrost {
namespace {

bool is_row_of_prompt(std::string_view name) { return name == kPromptPart || name == kKeysPart; }

MatrixView<const float> prompts_of(const NodeTensors& tensors) {
  const auto& prompts = tensors.find(kPromptPart)->second;
  return {prompts.values.data(), prompts.shape.front(), prompts.shape.back()};
}

// Calls for every tensor but the mass of classes, which is no part of what is trained.
template <typename Change>
void for_each_trained(NodeTensors& tensors, const Change& change) {
  for (auto& [name, tensor] : tensors)
    if (name != kMass) change(name, tensor.values);
}

void add_scaled(const NodeTensors& from, double scale, NodeTensors& to) {
  for_each_trained(to, [&](const std::string& name, std::vector<float>& values) {
    const auto found = from.find(name);
    if (found == from.end()) return;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(static_cast<double>(values[i]) +
                                     scale * static_cast<double>(found->second.values[i]));
  });
}

double root_mean_square(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

// before + factor·(own − before)
NodeTensors scaled_update(const AttackerSight& sight, double factor) {
  NodeTensors forged = sight.own;
  if (factor == 1) return forged;
  for_each_trained(forged, [&](const std::string& name, std::vector<float>& values) {
    const auto& before = sight.before.find(name)->second.values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto from = static_cast<double>(before[i]);
      values[i] = static_cast<float>(from + factor * (static_cast<double>(values[i]) - from));
    }
  });
  return forged;
}

NodeTensors noisy(const AttackerSight& sight, double strength, RandomStream& random) {
  NodeTensors forged = sight.own;
  for_each_trained(forged, [&](const std::string&, std::vector<float>& values) {
    const double deviation = strength * root_mean_square(values);
    for (float& value : values) value += static_cast<float>(deviation * random.normal());
  });
  return forged;
}

// Its own update, and what those around it did in the round before: what they sent less what the attacker
// itself began that round with, which is near what they began with where clients have come to agree.
std::vector<NodeTensors> updates_around(const AttackerSight& sight) {
  std::vector<NodeTensors> updates = {sight.own};
  add_scaled(sight.before, -1, updates.front());
  if (sight.began.empty()) return updates;
  for (const auto& letter : sight.seen) {
    updates.push_back(aligned(letter.tensors, sight.own, sight.orders_prompts));
    add_scaled(sight.began, -1, updates.back());
  }
  return updates;
}

// before + Σ over values of make(mean, deviation) of the updates around.
template <typename Make>
NodeTensors from_statistics(const AttackerSight& sight, const Make& make) {
  const auto updates = updates_around(sight);
  const auto count = static_cast<double>(updates.size());
  NodeTensors forged = sight.own;
  for_each_trained(forged, [&](const std::string& name, std::vector<float>& values) {
    const auto& before = sight.before.find(name)->second.values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      double mean = 0, squares = 0;
      for (const auto& update : updates)
        mean += static_cast<double>(update.find(name)->second.values[i]) / count;
      for (const auto& update : updates) {
        const double off = static_cast<double>(update.find(name)->second.values[i]) - mean;
        squares += off * off / count;
      }
      values[i] = static_cast<float>(static_cast<double>(before[i]) + make(mean, std::sqrt(squares)));
    }
  });
  return forged;
}

double squared_distance(const NodeTensors& a, const NodeTensors& b) {
  double sum = 0;
  for (const auto& [name, tensor] : a) {
    if (name == kMass) continue;
    const double distance = distance_between(tensor.values, b.find(name)->second.values);
    sum += distance * distance;
  }
  return sum;
}

NodeTensors mean_of(std::span<const NodeTensors> all) {
  NodeTensors mean = all.front();
  for_each_trained(mean,
                   [](const std::string&, std::vector<float>& values) { std::ranges::fill(values, 0.0f); });
  for (const auto& one : all) add_scaled(one, 1 / static_cast<double>(all.size()), mean);
  return mean;
}

// The letter that is furthest from the mean of all; of those equally far the first.
NodeTensors oddest_letter(const AttackerSight& sight) {
  if (sight.seen.empty()) return sight.own;
  std::vector<NodeTensors> letters;
  for (const auto& letter : sight.seen)
    letters.push_back(aligned(letter.tensors, sight.own, sight.orders_prompts));
  const auto mean = mean_of(letters);
  std::size_t oddest = 0;
  double furthest = -1;
  for (std::size_t s = 0; s < letters.size(); ++s) {
    const double distance = squared_distance(letters[s], mean);
    if (distance > furthest) {
      furthest = distance;
      oddest = s;
    }
  }
  return sight.seen[oddest].tensors;
}

// Every fifth prompt, one at least, in a direction of its own.
NodeTensors with_far_prompts(const AttackerSight& sight, double strength, RandomStream& random) {
  NodeTensors forged = sight.own;
  auto& prompts = forged.find(kPromptPart)->second;
  const std::size_t rows = prompts.shape.front(), width = prompts.shape.back();
  const double length =
      std::max(root_mean_square(prompts.values) * std::sqrt(static_cast<double>(width)), 1e-3);
  for (std::size_t r = 0; r < rows; r += 5) {
    std::vector<double> direction(width);
    double squares = 0;
    for (double& value : direction) {
      value = random.normal();
      squares += value * value;
    }
    for (std::size_t i = 0; i < width; ++i)
      prompts.values[r * width + i] +=
          static_cast<float>(strength * length * direction[i] / std::sqrt(squares));
  }
  return forged;
}

// As many as a letter may hold, where the merge takes any number and no keys belong to them.
std::size_t crowd_size(const AttackerSight& sight, std::size_t own) {
  const bool any = !sight.orders_prompts && !sight.own.contains(kKeysPart);
  return any ? std::max(sight.most_prompts, own) : own;
}

NodeTensors crowded(const AttackerSight& sight, double strength) {
  NodeTensors forged = sight.own;
  for (const auto name : {kPromptPart, kKeysPart}) {
    const auto found = forged.find(name);
    if (found == forged.end()) continue;
    auto& [shape, values] = found->second;
    const std::vector<float> first(values.begin(),
                                   values.begin() + static_cast<std::ptrdiff_t>(shape.back()));
    shape.front() = crowd_size(sight, shape.front());
    values.clear();
    for (std::size_t r = 0; r < shape.front(); ++r) values.insert(values.end(), first.begin(), first.end());
  }
  if (const auto mass = forged.find(kMass); mass != forged.end())
    for (float& value : mass->second.values)
      value = static_cast<float>(strength * static_cast<double>(value));
  return forged;
}

NodeTensors made_sendable(NodeTensors forged) {
  for (auto& [name, tensor] : forged)
    for (float& value : tensor.values)
      value = std::isfinite(value) ? std::clamp(value, -kLargestValue, kLargestValue) : 0.0f;
  return forged;
}

NodeTensors forge_unbounded(AttackKind kind, const AttackerSight& sight, double strength,
                            RandomStream& random) {
  switch (kind) {
    case AttackKind::sign_flip: return scaled_update(sight, -strength);
    case AttackKind::noise: return noisy(sight, strength, random);
    case AttackKind::inner_product:
      return from_statistics(sight, [&](double mean, double) { return -strength * mean; });
    case AttackKind::little_is_enough:
      return from_statistics(sight,
                             [&](double mean, double deviation) { return mean - strength * deviation; });
    case AttackKind::mimic: return oddest_letter(sight);
    case AttackKind::label_flip:
    case AttackKind::backdoor: return scaled_update(sight, strength);
    case AttackKind::far_prompts: return with_far_prompts(sight, strength, random);
    case AttackKind::crowd: return crowded(sight, strength);
    case AttackKind::zero: {
      NodeTensors zeros = sight.own;
      for_each_trained(
          zeros, [](const std::string&, std::vector<float>& values) { std::ranges::fill(values, 0.0f); });
      return zeros;
    }
    case AttackKind::none:
    case AttackKind::stale:      // own is old already
    case AttackKind::dissensus:  // to whom it has not heard of
      break;
  }
  return sight.own;
}

}  // namespace

NodeTensors aligned(const NodeTensors& other, const NodeTensors& own, bool orders_prompts) {
  NodeTensors result = other;
  if (orders_prompts) return result;
  const auto theirs = prompts_of(other), mine = prompts_of(own);
  const auto transport = wasserstein2_squared({mine}, {theirs});
  const double share = 1 / static_cast<double>(mine.rows());
  for (auto& [name, tensor] : result) {
    if (!is_row_of_prompt(name)) continue;
    const auto& rows = other.find(name)->second;
    const std::size_t width = rows.shape.back();
    std::vector<double> sums(mine.rows() * width, 0.0);
    for (const auto& [from, to, mass] : transport.plan)
      for (std::size_t i = 0; i < width; ++i)
        sums[from * width + i] += mass / share * static_cast<double>(rows.values[to * width + i]);
    tensor = {{mine.rows(), width}, std::vector<float>(sums.begin(), sums.end())};
  }
  return result;
}

NodeTensors forge(AttackKind kind, const AttackerSight& sight, double strength, RandomStream random) {
  return made_sendable(forge_unbounded(kind, sight, strength, random));
}

NodeTensors forge_dissensus(const AttackerSight& sight, std::size_t to, double strength) {
  NodeTensors forged = sight.seen[to].tensors;
  std::vector<NodeTensors> others = {aligned(sight.own, forged, sight.orders_prompts)};
  for (std::size_t s = 0; s < sight.seen.size(); ++s)
    if (s != to) others.push_back(aligned(sight.seen[s].tensors, forged, sight.orders_prompts));
  const auto mean = mean_of(others);
  add_scaled(forged, strength, forged);
  add_scaled(mean, -strength, forged);
  return made_sendable(std::move(forged));
}

}  // namespace dfrost

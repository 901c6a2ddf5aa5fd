#include "run/defence.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "merge/merge_kinds.h"
#include "merge/set_defence.h"
#include "run/class_mass.h"

namespace dfrost {
namespace {

// Their weight goes to the node itself: rows of the mixing matrix must still sum to one.
void leave_out(const std::vector<bool>& left_out, Inbox& inbox, std::vector<ClientId>& whom) {
  Inbox kept;
  kept.self_weight = inbox.self_weight;
  for (std::size_t s = 0; s < inbox.messages.size(); ++s) {
    if (left_out[s]) {
      whom.push_back(inbox.messages[s].sender());
      kept.self_weight += inbox.weights[s];
    } else {
      kept.messages.push_back(std::move(inbox.messages[s]));
      kept.weights.push_back(inbox.weights[s]);
    }
  }
  inbox.messages = std::move(kept.messages);
  inbox.weights = std::move(kept.weights);
  inbox.self_weight = kept.self_weight;
}

// outlying_sets() of the prompts, without the node's own in front.
std::vector<bool> outliers(const Node& node, const Inbox& inbox, double factor) {
  std::vector<MatrixView<const float>> sets = {node.state.prompts()};
  for (const auto& message : inbox.messages) {
    const auto& prompts = message.tensors.find(kPromptPart)->second;
    sets.emplace_back(prompts.values.data(), prompts.shape.front(), sets.front().cols());
  }
  auto outlying = outlying_sets(sets, factor);
  outlying.erase(outlying.begin());
  return outlying;
}

using Parts = std::span<const StateLayout::Part* const>;

// Of every message to the node's own, over all these parts.
std::vector<double> distances_to_own(const Node& node, const Inbox& inbox, Parts parts) {
  std::vector<double> distances;
  for (const auto& message : inbox.messages) {
    double squares = 0;
    for (const auto* part : parts) {
      const double distance = distance_between(std::span(node.state.values).subspan(part->offset, part->size),
                                               message.tensors.find(part->name)->second.values);
      squares += distance * distance;
    }
    distances.push_back(std::sqrt(squares));
  }
  return distances;
}

// The share of the neighbours, rounded up, that is furthest; of those equally far the last.
std::vector<bool> furthest(std::span<const double> distances, double share) {
  const auto count =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(distances.size()) - 1e-9));
  std::vector<std::size_t> order(distances.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return distances[a] < distances[b]; });
  std::vector<bool> chosen(distances.size(), false);
  for (std::size_t k = order.size() - std::min(count, order.size()); k < order.size(); ++k)
    chosen[order[k]] = true;
  return chosen;
}

void clip_vectors(const Node& node, Parts parts, const ClipOptions& options, Inbox& inbox,
                  std::vector<ClientId>& whom) {
  const auto distances = distances_to_own(node, inbox, parts);
  const double radius = clip_radius(distances, options);
  for (std::size_t s = 0; s < distances.size(); ++s) {
    if (!(distances[s] > radius)) continue;
    whom.push_back(inbox.messages[s].sender());
    const double left = radius / distances[s];
    for (const auto* part : parts) {
      auto& theirs = inbox.messages[s].tensors.find(part->name)->second.values;
      const float* own = node.state.values.data() + part->offset;
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        const auto mine = static_cast<double>(own[i]);
        theirs[i] = static_cast<float>(mine + left * (static_cast<double>(theirs[i]) - mine));
      }
    }
  }
}

void cap_masses(double most, Inbox& inbox) {
  for (auto& message : inbox.messages) {
    const auto mass = message.tensors.find(kMass);
    if (mass == message.tensors.end()) continue;
    for (float& value : mass->second.values) value = std::min(value, static_cast<float>(most));
  }
}

// Everything that clipping and nearness are about: class rows too, whatever they weigh.
std::vector<const StateLayout::Part*> vector_parts(const Node& node, const MergeSection& options) {
  MergeSection plain = options;
  if (plain.head == HeadMerge::class_mass) plain.head = HeadMerge::average;
  return averaged_parts(node, plain);
}

}  // namespace

Defended::Defended(const Node& node, const Inbox& inbox, const MergeSection& options, DefenceOutcome& report)
    : inbox_(inbox) {
  const auto& defence = options.defence;
  if (defence.reject > 0) {
    const auto odd = outliers(node, inbox, defence.reject);
    if (std::ranges::count(odd, true) > 0) leave_out(odd, believed_.emplace(inbox), report.rejected);
  }
  if (!defence.head_clip.is_on() && defence.head_nearest == 0 && defence.mass_cap == 0) return;
  Inbox& averaged = averaged_.emplace(believed());
  const auto parts = vector_parts(node, options);
  if (defence.head_nearest > 0) {
    leave_out(furthest(distances_to_own(node, averaged, parts), defence.head_nearest), averaged,
              report.skipped_heads);
  }
  if (defence.head_clip.is_on()) clip_vectors(node, parts, defence.head_clip, averaged, report.clipped_heads);
  if (defence.mass_cap > 0) cap_masses(defence.mass_cap, averaged);
}

std::vector<const StateLayout::Part*> averaged_parts(const Node& node, const MergeSection& options) {
  const bool transports = options.custom != nullptr || traits_of(options.kind).transports;
  std::vector<const StateLayout::Part*> parts;
  for (const auto& part : node.state.layout.parts()) {
    const bool of_prompts = part.name == kPromptPart;
    if (of_prompts && transports) continue;
    if (part.name == kKeysPart && transports) continue;
    if (!of_prompts && options.head == HeadMerge::own) continue;
    if (options.head == HeadMerge::class_mass && has_class_rows(node, part.name)) continue;
    parts.push_back(&part);
  }
  return parts;
}

RobustMeanOptions mean_options(const DefenceOptions& defence) {
  return {.trim = defence.head_trim, .median = defence.head_median};
}

bool average_parts(Parts parts, const Inbox& inbox, const RobustMeanOptions& mean, std::span<float> values) {
  std::size_t size = 0;
  for (const auto* part : parts) size += part->size;
  if (size == 0) return false;
  std::vector<std::vector<float>> all(inbox.messages.size() + 1);
  std::vector<double> weights = {inbox.self_weight};
  weights.insert(weights.end(), inbox.weights.begin(), inbox.weights.end());
  for (const auto* part : parts) {
    const auto own = values.subspan(part->offset, part->size);
    all.front().insert(all.front().end(), own.begin(), own.end());
    for (std::size_t s = 0; s < inbox.messages.size(); ++s) {
      const auto& theirs = inbox.messages[s].tensors.find(part->name)->second.values;
      all[s + 1].insert(all[s + 1].end(), theirs.begin(), theirs.end());
    }
  }
  std::vector<const float*> vectors;
  for (const auto& vector : all) vectors.push_back(vector.data());
  std::vector<float> merged(size);
  if (!robust_mean({vectors, weights, size}, mean, merged)) return false;
  for (std::size_t at = 0; const auto* part : parts) {
    std::copy_n(merged.begin() + static_cast<std::ptrdiff_t>(at), part->size,
                values.begin() + static_cast<std::ptrdiff_t>(part->offset));
    at += part->size;
  }
  return true;
}

}  // namespace dfrost

#include "measure/membership.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace dfrost {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

MembershipScore tell_members(std::span<const double> members, std::span<const double> others) {
  if (members.empty() || others.empty()) return {};
  std::vector<double> sorted(others.begin(), others.end());
  std::ranges::sort(sorted);
  const auto count = static_cast<double>(sorted.size());
  const double threshold = mean_of(members);
  double wins = 0, found = 0;
  for (const double loss : members) {
    const auto first = std::ranges::lower_bound(sorted, loss), last = std::ranges::upper_bound(sorted, loss);
    wins += static_cast<double>(sorted.end() - last) + 0.5 * static_cast<double>(last - first);
    found += loss <= threshold ? 1 : 0;
  }
  const auto below = std::ranges::upper_bound(sorted, threshold) - sorted.begin();
  const auto all = static_cast<double>(members.size());
  return {wins / (all * count), (found / all + 1 - static_cast<double>(below) / count) / 2};
}

MembershipPairs pair_members(std::span<const std::size_t> own_labels,
                             std::span<const std::size_t> test_labels, std::size_t count,
                             RandomStream stream) {
  std::map<std::size_t, std::vector<std::size_t>> held_out;  // by class
  const auto own_order = stream.permutation(own_labels.size());
  for (const std::size_t picture : stream.permutation(test_labels.size()))
    held_out[test_labels[picture]].push_back(picture);
  MembershipPairs pairs;
  for (const std::size_t picture : own_order) {
    if (pairs.members.size() == count) break;
    auto& same = held_out[own_labels[picture]];
    if (same.empty()) continue;
    pairs.members.push_back(picture);
    pairs.held_out.push_back(same.back());
    same.pop_back();
  }
  return pairs;
}

std::vector<double> calibrated(std::span<const double> losses, std::span<const std::vector<double>> shadows) {
  std::vector<double> result(losses.begin(), losses.end());
  for (const auto& shadow : shadows)
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] -= shadow[i] / static_cast<double>(shadows.size());
  return result;
}

}  // namespace dfrost

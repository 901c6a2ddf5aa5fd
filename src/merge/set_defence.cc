#include "merge/set_defence.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dfrost/wasserstein.h"

namespace dfrost {
namespace {

// What rounding leaves in a plan where a mass is not a whole number of its units.
constexpr double kEmptyMass = 1e-12;

// Of an even number the lower: a distance that some pair really has.
double lower_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// The way from every row to what it is matched with, as far as `part` of it is left: 1 stays, 0 arrives.
ClippedSet moved(MatrixView<const float> set, MatrixView<const float> own, const Transport& transport,
                 double part) {
  ClippedSet result{.points = {}, .masses = {}, .distance = std::sqrt(transport.w2_squared)};
  for (const auto& [from, to, mass] : transport.plan) {
    if (mass < kEmptyMass) continue;
    for (std::size_t i = 0; i < set.cols(); ++i) {
      const double goal = static_cast<double>(own.row(to)[i]);
      result.points.push_back(goal + part * (static_cast<double>(set.row(from)[i]) - goal));
    }
    result.masses.push_back(mass);
  }
  if (result.masses.size() == set.rows()) result.masses.clear();  // none was split
  return result;
}

}  // namespace

double clip_radius(std::vector<double> distances, const ClipOptions& options) {
  double radius = options.radius > 0 ? options.radius : std::numeric_limits<double>::infinity();
  if (options.share > 0 && !distances.empty()) {
    const auto count = static_cast<double>(distances.size());
    const auto doubted = static_cast<std::size_t>(std::ceil(options.share * count - 1e-9));
    std::ranges::sort(distances);
    radius = std::min(radius, distances[distances.size() - 1 - std::min(doubted, distances.size() - 1)]);
  }
  return radius;
}

std::vector<ClippedSet> clip_sets(std::span<const MatrixView<const float>> sets, const ClipOptions& options) {
  std::vector<Transport> transports;
  std::vector<double> distances;
  for (std::size_t s = 1; s < sets.size(); ++s) {
    transports.push_back(wasserstein2_squared({sets[s]}, {sets[0]}));
    distances.push_back(std::sqrt(transports.back().w2_squared));
  }
  const double radius = clip_radius(distances, options);
  std::vector<ClippedSet> clipped;
  for (std::size_t s = 1; s < sets.size(); ++s) {
    const double distance = distances[s - 1];
    if (distance > radius)
      clipped.push_back(moved(sets[s], sets[0], transports[s - 1], radius / distance));
    else
      clipped.push_back({.points = {}, .masses = {}, .distance = distance});
  }
  return clipped;
}

std::vector<bool> outlying_sets(std::span<const MatrixView<const float>> sets, double factor) {
  const std::size_t count = sets.size();
  std::vector<bool> outlying(count, false);
  if (count < 3) return outlying;  // of two nobody can say which one is odd
  std::vector<std::vector<double>> distances(count);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b) {
      const double distance = std::sqrt(wasserstein2_squared({sets[a]}, {sets[b]}).w2_squared);
      distances[a].push_back(distance);
      distances[b].push_back(distance);
    }
  }
  std::vector<double> oddness;
  for (const auto& own : distances) oddness.push_back(lower_median(own));
  const double usual = lower_median(oddness);
  for (std::size_t s = 1; s < count; ++s) outlying[s] = oddness[s] > factor * usual;
  return outlying;
}

}  // namespace dfrost

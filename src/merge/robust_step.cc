#include "merge/robust_step.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ot/row_kernels.h"

namespace dfrost {
namespace {

// Where half of what came is just what the client has, of the furthest: medians are then sharp, not
// undefined.
constexpr double kLeastRadius = 1e-9;
// What summing masses in another order may change.
constexpr double kSameMass = 1e-9;

std::vector<double> row_costs(const DoubleMatrix& distances, double sharpness) {
  std::vector<double> costs(distances.cols());
  for (std::size_t a = 0; a < costs.size(); ++a) {
    double nearest = distances(0, a), sum = 0;
    for (std::size_t i = 1; i < distances.rows(); ++i) nearest = std::min(nearest, distances(i, a));
    for (std::size_t i = 0; i < distances.rows(); ++i) {
      const double exponent = sharpness * (nearest - distances(i, a));
      if (exponent > -40) sum += std::exp(exponent);  // less is lost beside the nearest, which adds one
    }
    costs[a] = sharpness * nearest - std::log(sum);
  }
  return costs;
}

}  // namespace

std::vector<double> trimmed_masses(const DoubleMatrix& distances, double sharpness,
                                   std::span<const double> mass, double share) {
  const auto costs = row_costs(distances, sharpness);
  std::vector<std::size_t> order(mass.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  std::vector<double> kept(mass.begin(), mass.end());
  double left = share;  // to be taken
  for (std::size_t first = 0, last = 0; first < order.size() && left > 0; first = last) {
    double together = 0;
    for (last = first; last < order.size() && costs[order[last]] == costs[order[first]]; ++last)
      together += mass[order[last]];
    const double taken = std::min(left, together);
    for (std::size_t k = first; k < last; ++k)
      kept[order[k]] = together > taken ? mass[order[k]] * (1 - taken / together) : 0.0;
    left -= taken;
  }
  for (double& value : kept) value /= 1 - share;
  return kept;
}

double usual_distance(const Neighbourhood& all) {
  const auto& index = all.index;
  const auto own =
      static_cast<std::size_t>(std::find(index.begin() + 1, index.end(), std::size_t{0}) - index.begin());
  const std::size_t rows = all.mass.size();
  if (own == rows) return 0;
  DoubleMatrix distances(own, rows);
  squared_distances(all.rows, all.rows, distances);
  std::vector<std::pair<double, double>> received;  // distance, mass
  double half = 0;
  for (std::size_t a = own; a < rows; ++a) {
    double nearest = distances(0, a);
    for (std::size_t i = 1; i < own; ++i) nearest = std::min(nearest, distances(i, a));
    received.emplace_back(std::sqrt(nearest), all.mass[a]);
    half += all.mass[a] / 2;
  }
  std::ranges::sort(received);
  std::size_t at = 0;
  half *= 1 - kSameMass;
  for (double below = received[0].second; below < half && at + 1 < received.size();)
    below += received[++at].second;
  return std::max(received[at].first, kLeastRadius * received.back().first);
}

double soften(std::span<double> weights, std::span<const double> squared_distances, double radius,
              double mass) {
  double taken = 0, left = 0;
  if (radius == 0) return 0;
  for (std::size_t a = 0; a < weights.size(); ++a) {
    const double distance = std::sqrt(squared_distances[a]);
    if (distance > radius) {
      const double softened = weights[a] * (radius / distance);
      taken += weights[a] - softened;
      weights[a] = softened;
    }
    left += weights[a];
  }
  if (taken == 0 || left == 0) return taken;
  for (double& weight : weights) weight *= mass / left;
  return taken;
}

}  // namespace dfrost

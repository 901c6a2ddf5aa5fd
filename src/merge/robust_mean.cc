#include "merge/robust_mean.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dfrost {
namespace {

// Where half of what came is just what the client has, of the furthest: the median is then sharp.
constexpr double kSharpestRadius = 1e-9;
constexpr std::size_t kMostSteps = 1000;
constexpr double kAtRest = 1e-13;  // of the radius

// Of sorted pairs of value and weight, which sum to one.
double mean_of_middle(std::span<const std::pair<double, double>> sorted, double share) {
  double below = 0, sum = 0;
  for (const auto& [value, weight] : sorted) {
    const double from = std::max(below, share), to = std::min(below + weight, 1 - share);
    if (to > from) sum += (to - from) * value;
    below += weight;
  }
  return sum / (1 - 2 * share);
}

void insertion_sort(std::span<std::pair<double, double>> values) {
  for (std::size_t i = 1; i < values.size(); ++i)
    for (std::size_t j = i; j > 0 && values[j].first < values[j - 1].first; --j)
      std::swap(values[j], values[j - 1]);
}

// ⟨v_s − v_0, v_t − v_0⟩: all that distances between points of the vectors' plane depend on. From the first,
// so that what the vectors have in common costs no digits.
std::vector<double> products_from_first(const WeightedVectors& all) {
  const std::size_t count = all.weights.size();
  std::vector<double> products(count * count, 0.0);
  for (std::size_t s = 1; s < count; ++s) {
    for (std::size_t t = s; t < count; ++t) {
      double sum = 0;
      for (std::size_t i = 0; i < all.size; ++i) {
        const auto from = static_cast<double>(all.vectors[0][i]);
        sum +=
            (static_cast<double>(all.vectors[s][i]) - from) * (static_cast<double>(all.vectors[t][i]) - from);
      }
      products[s * count + t] = products[t * count + s] = sum;
    }
  }
  return products;
}

// ‖Σ_s change_s·v_s‖ where the changes sum to zero.
double length_of(std::span<const double> change, std::span<const double> products) {
  double sum = 0;
  for (std::size_t s = 0; s < change.size(); ++s)
    for (std::size_t t = 0; t < change.size(); ++t)
      sum += change[s] * change[t] * products[s * change.size() + t];
  return std::sqrt(std::max(sum, 0.0));
}

std::vector<double> weighted_sum(const WeightedVectors& all, std::span<const double> weights) {
  std::vector<double> result(all.size);
  for (std::size_t i = 0; i < all.size; ++i) {
    double sum = weights[0] * static_cast<double>(all.vectors[0][i]);
    for (std::size_t s = 1; s < weights.size(); ++s)
      sum += weights[s] * static_cast<double>(all.vectors[s][i]);
    result[i] = sum;
  }
  return result;
}

double usual_distance_from_first(const WeightedVectors& all) {
  std::vector<double> distances;
  for (const float* vector : all.vectors.subspan(1))
    distances.push_back(distance_between({all.vectors[0], all.size}, {vector, all.size}));
  std::ranges::sort(distances);
  return std::max(distances[(distances.size() - 1) / 2], kSharpestRadius * distances.back());
}

}  // namespace

std::vector<double> trimmed_mean(const WeightedVectors& all, double share) {
  std::vector<double> result(all.size);
  std::vector<std::pair<double, double>> values(all.weights.size());
  for (std::size_t i = 0; i < all.size; ++i) {
    for (std::size_t s = 0; s < values.size(); ++s)
      values[s] = {static_cast<double>(all.vectors[s][i]), all.weights[s]};
    insertion_sort(values);  // a neighbourhood is small
    result[i] = mean_of_middle(values, share);
  }
  return result;
}

GeometricMedian geometric_median(const WeightedVectors& all, double radius) {
  const auto products = products_from_first(all);
  std::vector<double> point(all.weights.begin(), all.weights.end());  // its coordinates: Σ point_s·v_s
  std::vector<double> next(point.size());
  bool is_mean = true;
  for (std::size_t step = 0; step < kMostSteps; ++step) {
    double sum = 0;
    bool softens = false;
    for (std::size_t s = 0; s < point.size(); ++s) {
      auto way = point;
      way[s] -= 1;
      const double distance = length_of(way, products);
      next[s] = all.weights[s] * (distance > radius ? radius / distance : 1);
      softens = softens || distance > radius;
      sum += next[s];
    }
    if (!softens || !(sum > 0)) break;
    is_mean = false;
    auto move = point;
    for (std::size_t s = 0; s < point.size(); ++s) {
      next[s] /= sum;
      move[s] = next[s] - point[s];
    }
    point.swap(next);
    if (length_of(move, products) <= kAtRest * radius) break;
  }
  return {weighted_sum(all, point), is_mean};
}

bool robust_mean(const WeightedVectors& all, const RobustMeanOptions& options, std::span<float> merged) {
  std::vector<double> mean;
  bool is_plain = options.is_plain();
  if (options.trim > 0) {
    mean = trimmed_mean(all, options.trim);
  } else if (options.median > 0 && all.weights.size() > 1) {
    auto median = geometric_median(all, options.median * usual_distance_from_first(all));
    mean = std::move(median.point);
    is_plain = median.is_mean;
  } else {
    mean = weighted_sum(all, all.weights);
  }
  for (std::size_t i = 0; i < all.size; ++i) merged[i] = static_cast<float>(mean[i]);
  return !is_plain;
}

double distance_between(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

}  // namespace dfrost

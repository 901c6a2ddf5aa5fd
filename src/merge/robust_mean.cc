#include "merge/robust_mean.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace dfrost {
namespace {

// Where half of what came is just what the client has, of the furthest: the median is then sharp.
constexpr double kSharpestRadius = 1e-9;
constexpr std::size_t kMostSteps = 1000;
constexpr double kAtRest = 1e-13;  // of the radius

// So many values are sorted side by side: the same comparisons for all, which compilers turn into vectors.
constexpr std::size_t kLanes = 32;
using Lanes = std::array<double, kLanes>;

struct LanesOfSender {
  Lanes values, weights;
};

// Puts the smaller values first, with their weights.
void put_in_order(LanesOfSender& first, LanesOfSender& second) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    const bool swapped = second.values[i] < first.values[i];
    const double low = swapped ? second.values[i] : first.values[i];
    const double high = swapped ? first.values[i] : second.values[i];
    const double of_low = swapped ? second.weights[i] : first.weights[i];
    const double of_high = swapped ? first.weights[i] : second.weights[i];
    first.values[i] = low;
    second.values[i] = high;
    first.weights[i] = of_low;
    second.weights[i] = of_high;
  }
}

// A neighbourhood is small: every one past all before it.
void sort_senders(std::span<LanesOfSender> senders) {
  for (std::size_t last = 1; last < senders.size(); ++last)
    for (std::size_t s = last; s > 0; --s) put_in_order(senders[s - 1], senders[s]);
}

// Of sorted values with weights that sum to one.
Lanes mean_of_middle(std::span<const LanesOfSender> sorted, double share) {
  Lanes below{}, sum{};
  for (const auto& [values, weights] : sorted) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      const double after = below[i] + weights[i];
      const double from = std::max(below[i], share), to = std::min(after, 1 - share);
      sum[i] += std::max(to - from, 0.0) * values[i];
      below[i] = after;
    }
  }
  for (double& value : sum) value /= 1 - 2 * share;
  return sum;
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
  std::vector<LanesOfSender> senders(all.weights.size());
  for (std::size_t first = 0; first < all.size; first += kLanes) {
    const std::size_t count = std::min(kLanes, all.size - first);
    for (std::size_t s = 0; s < senders.size(); ++s) {
      senders[s].weights.fill(all.weights[s]);
      for (std::size_t i = 0; i < count; ++i)
        senders[s].values[i] = static_cast<double>(all.vectors[s][first + i]);
    }
    sort_senders(senders);
    const Lanes middle = mean_of_middle(senders, share);
    std::copy_n(middle.begin(), count, result.begin() + static_cast<std::ptrdiff_t>(first));
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

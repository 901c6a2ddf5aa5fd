// Means of vectors that a few hostile ones among them cannot drag away: for heads, and whatever else is
// averaged by index. In double, in the order of the vectors, one thread; weights sum to one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dfrost {

struct WeightedVectors {
  std::span<const float* const> vectors;  // of `size` values each
  std::span<const double> weights;
  std::size_t size = 0;
};

struct RobustMeanOptions {
  double trim = 0;    // of the weight, value by value, from either end
  double median = 0;  // else: geometric median with this many usual distances for its radius; 0: off

  bool is_plain() const { return trim == 0 && median == 0; }
};

// The usual distance is the median of those from the first vector, the client's own, to the others. With
// neither option the weighted sum. `merged` may be one of the vectors. False where it is the weighted sum,
// because nothing was asked for or nothing beyond the radius.
bool robust_mean(const WeightedVectors& all, const RobustMeanOptions& options, std::span<float> merged);

// Value by value: `share` of the weight is left out from below and as much from above. share < 1/2.
std::vector<double> trimmed_mean(const WeightedVectors& all, double share);

struct GeometricMedian {
  std::vector<double> point;
  bool is_mean = true;  // no vector was beyond the radius
};

// The point of least Σ weight·distance, where a vector counts its distance beyond the radius and half of its
// square over the radius within: Weiszfeld's steps from the mean until they rest. Where the mean has all
// vectors within the radius, it is the mean.
GeometricMedian geometric_median(const WeightedVectors& all, double radius);

double distance_between(std::span<const float> a, std::span<const float> b);

}  // namespace dfrost

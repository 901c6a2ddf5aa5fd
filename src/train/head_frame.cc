#include "train/head_frame.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/small_product.h"

namespace dfrost {

std::string_view to_string(HeadCoordinates coordinates) {
  switch (coordinates) {
    case HeadCoordinates::raw: return "raw";
    case HeadCoordinates::centred: return "centred";
    case HeadCoordinates::whitened: return "whitened";
  }
  return "unknown";
}

std::string_view to_string(MomentsOf moments) {
  switch (moments) {
    case MomentsOf::network: return "network";
    case MomentsOf::backbone: return "backbone";
    case MomentsOf::own: return "own";
  }
  return "unknown";
}

HeadFrame::HeadFrame(std::span<const float> mean, std::span<const float> factor)
    : mean_(mean.begin(), mean.end()) {
  if (factor.empty()) return;
  const std::size_t n = inputs();
  factor_.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      factor_[i * n + j] = static_cast<double>(factor[triangle_size(i) + j]);
  // Row by row: L·X = 1.
  std::vector<double> inverse(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    double* const row = inverse.data() + i * n;
    row[i] = 1;
    for (std::size_t k = 0; k < i; ++k) {
      const double l = factor_[i * n + k];
      for (std::size_t j = 0; j <= k; ++j) row[j] -= l * inverse[k * n + j];
    }
    for (std::size_t j = 0; j <= i; ++j) row[j] /= factor_[i * n + i];
  }
  inverse_.resize(n, n);
  std::ranges::transform(inverse, inverse_.data(), [](double x) { return static_cast<float>(x); });
}

void HeadFrame::apply(MatrixView<const float> x, Matrix<float>& coordinates) const {
  Matrix<float> centred;
  Matrix<float>& differences = factor_.empty() ? coordinates : centred;
  differences.resize(x.rows(), x.cols());
  for (std::size_t r = 0; r < x.rows(); ++r)
    for (std::size_t i = 0; i < x.cols(); ++i) differences.view()(r, i) = x(r, i) - mean_[i];
  if (factor_.empty()) return;
  coordinates.resize(x.rows(), x.cols());
  small_product(Transpose::no, Transpose::yes, centred, inverse_, coordinates);
}

void HeadFrame::apply_backward(MatrixView<const float> d_coordinates, MatrixView<float> d_x) const {
  if (!factor_.empty()) return small_product(Transpose::no, Transpose::no, d_coordinates, inverse_, d_x);
  for (std::size_t r = 0; r < d_x.rows(); ++r) std::ranges::copy(d_coordinates.row(r), d_x.row(r).begin());
}

void HeadFrame::enter(MatrixView<float> weight, std::span<float> bias) const {
  const std::size_t n = inputs();
  std::vector<double> turned(n);
  for (std::size_t r = 0; r < weight.rows(); ++r) {
    const auto row = weight.row(r);
    double shift = 0;
    for (std::size_t i = 0; i < n; ++i) shift += static_cast<double>(row[i]) * static_cast<double>(mean_[i]);
    bias[r] = static_cast<float>(static_cast<double>(bias[r]) + shift);
    if (factor_.empty()) continue;
    std::ranges::fill(turned, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      const auto w = static_cast<double>(row[i]);
      for (std::size_t j = 0; j <= i; ++j) turned[j] += w * factor_[i * n + j];
    }
    std::ranges::transform(turned, row.begin(), [](double x) { return static_cast<float>(x); });
  }
}

void HeadFrame::leave(MatrixView<float> weight, std::span<float> bias) const {
  const std::size_t n = inputs();
  std::vector<double> turned(n);
  for (std::size_t r = 0; r < weight.rows(); ++r) {
    const auto row = weight.row(r);
    std::ranges::copy(row, turned.begin());
    // From the last on: what is known of w·L = w' is taken off.
    for (std::size_t i = factor_.empty() ? 0 : n; i-- > 0;) {
      turned[i] /= factor_[i * n + i];
      for (std::size_t j = 0; j < i; ++j) turned[j] -= turned[i] * factor_[i * n + j];
    }
    double shift = 0;
    for (std::size_t i = 0; i < n; ++i) shift += turned[i] * static_cast<double>(mean_[i]);
    std::ranges::transform(turned, row.begin(), [](double x) { return static_cast<float>(x); });
    bias[r] = static_cast<float>(static_cast<double>(bias[r]) - shift);
  }
}

void InputSums::add(MatrixView<const float> x) {
  count += static_cast<double>(x.rows());
  for (std::size_t r = 0; r < x.rows(); ++r) {
    const auto row = x.row(r);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto value = static_cast<double>(row[i]);
      sum[i] += value;
      if (products.empty()) continue;
      double* const out = products.data() + triangle_size(i);
      for (std::size_t j = 0; j <= i; ++j) out[j] += value * static_cast<double>(row[j]);
    }
  }
}

InputMoments moments_of(const InputSums& sums) {
  InputMoments moments{.count = sums.count, .mean = sums.sum, .covariance = sums.products};
  if (!(sums.count > 0)) return moments;
  for (double& value : moments.mean) value /= sums.count;
  if (sums.products.empty()) return moments;
  for (std::size_t i = 0; i < moments.mean.size(); ++i) {
    double* const row = moments.covariance.data() + triangle_size(i);
    for (std::size_t j = 0; j <= i; ++j) row[j] = row[j] / sums.count - moments.mean[i] * moments.mean[j];
  }
  return moments;
}

InputMoments mixed_moments(std::span<const WeightedMoments> all) {
  const std::size_t inputs = all.front().mean.size();
  InputMoments mixed{.mean = std::vector(inputs, 0.0),
                     .covariance = std::vector(all.front().covariance.size(), 0.0)};
  for (const auto& one : all) mixed.count += one.weight * static_cast<double>(one.count.front());
  if (!(mixed.count > 0)) return mixed;
  const auto share = [&](const WeightedMoments& one) {
    return one.weight * static_cast<double>(one.count.front()) / mixed.count;
  };
  for (const auto& one : all)
    for (std::size_t i = 0; i < inputs; ++i) mixed.mean[i] += share(one) * static_cast<double>(one.mean[i]);
  if (mixed.covariance.empty()) return mixed;
  // Within each, and of each one's mean about that of all.
  std::vector<double> away(inputs);
  for (const auto& one : all) {
    for (std::size_t i = 0; i < inputs; ++i) away[i] = static_cast<double>(one.mean[i]) - mixed.mean[i];
    for (std::size_t i = 0, at = 0; i < inputs; ++i) {
      for (std::size_t j = 0; j <= i; ++j, ++at)
        mixed.covariance[at] += share(one) * (static_cast<double>(one.covariance[at]) + away[i] * away[j]);
    }
  }
  return mixed;
}

std::optional<FrameParts> frame_parts(const InputMoments& moments, double shrinkage) {
  if (!(moments.count > 0)) return std::nullopt;
  FrameParts parts;
  parts.mean.assign(moments.mean.begin(), moments.mean.end());
  if (moments.covariance.empty()) return parts;
  const std::size_t n = moments.mean.size();
  const double eigenvalue = mean_of_diagonal(n, moments.covariance);
  if (!(eigenvalue > 0) || !std::isfinite(eigenvalue)) return std::nullopt;
  for (double share = shrinkage; std::isfinite(share); share = std::max(2 * share, 1e-6)) {
    auto factor = moments.covariance;
    for (std::size_t i = 0; i < n; ++i) factor[triangle_size(i) + i] += share * eigenvalue;
    if (!factorize_triangle(n, factor)) continue;
    parts.factor.assign(factor.begin(), factor.end());
    return parts;
  }
  return std::nullopt;
}

}  // namespace dfrost

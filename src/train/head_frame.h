// Other coordinates for the inputs of a head: centred, x − μ, or whitened, L⁻¹(x − μ) with L·Lᵀ the inputs'
// covariance plus a share of its mean eigenvalue. A linear map of the inputs as they are equals one of the
// coordinates, W·x + b = (W·L)·L⁻¹(x − μ) + (b + W·μ), so a head can be turned into them, trained there, and
// turned back: what is sent and scored always is a head of the inputs themselves. Under label skew this is
// what keeps a client with few classes from moving all rows along the direction that its pictures have in
// common. Computed in double on the calling thread; there and back changes a head by fp32's rounding.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dfrost/matrix_view.h"
#include "kernels/buffer.h"
#include "kernels/triangle.h"

namespace dfrost {

enum class HeadCoordinates { raw, centred, whitened };
std::string_view to_string(HeadCoordinates coordinates);

enum class MomentsOf {
  network,   // the client's own, mixed with those of others before the first round
  backbone,  // of generic pictures, from a file beside the backbone's weights
  own,       // of the client's own pictures alone
};
std::string_view to_string(MomentsOf moments);

struct HeadFrameOptions {
  HeadCoordinates coordinates = HeadCoordinates::raw;
  MomentsOf moments = MomentsOf::network;
  std::size_t rounds = 10;  // exchanges by which they are mixed
  double shrinkage = 0.1;   // share of the mean eigenvalue that is added to all
  double noise = 0;         // of a client's own moments: deviation, as a share of their root mean square
};

class HeadFrame {
 public:
  // `factor`: L, its lower triangle; empty for centred coordinates.
  HeadFrame(std::span<const float> mean, std::span<const float> factor);

  std::size_t inputs() const { return mean_.size(); }
  // x [images, inputs] → coordinates, and the gradient back.
  void apply(MatrixView<const float> x, Matrix<float>& coordinates) const;
  void apply_backward(MatrixView<const float> d_coordinates, MatrixView<float> d_x) const;

  // A layer of the inputs becomes one of the coordinates, and back; both in place. leave() also takes a
  // gradient by a layer of the coordinates to the step that it means for the layer of the inputs.
  void enter(MatrixView<float> weight, std::span<float> bias) const;
  void leave(MatrixView<float> weight, std::span<float> bias) const;

 private:
  std::vector<float> mean_;
  std::vector<double> factor_;  // L, [inputs, inputs]; empty: the unit matrix
  Matrix<float> inverse_;       // L⁻¹
};

// Sums over pictures of a head's inputs x: 1, x, and the lower triangle of x·xᵀ, which centred coordinates do
// not need.
struct InputSums {
  double count = 0;
  std::vector<double> sum;
  std::vector<double> products;

  InputSums(std::size_t inputs, bool with_products)
      : sum(inputs, 0.0), products(with_products ? triangle_size(inputs) : 0, 0.0) {}
  void add(MatrixView<const float> x);
};

// How many pictures, their mean, and the lower triangle of their covariance, where it is asked for: unlike
// sums, fp32 holds these however long the mean is.
struct InputMoments {
  double count = 0;
  std::vector<double> mean;
  std::vector<double> covariance;
};
InputMoments moments_of(const InputSums& sums);

// Those of several populations together, of each of which `weight` parts are taken.
struct WeightedMoments {
  double weight = 1;
  std::span<const float> count, mean, covariance;
};
InputMoments mixed_moments(std::span<const WeightedMoments> all);

struct FrameParts {
  std::vector<float> mean;
  std::vector<float> factor;  // empty without a covariance
};
// Nothing where there are no pictures, or all look the same. Where noise leaves no covariance, the share is
// doubled until there is one.
std::optional<FrameParts> frame_parts(const InputMoments& moments, double shrinkage);

}  // namespace dfrost

#include "train/tangent_kernel.h"

#include <algorithm>
#include <cmath>

#include "kernels/small_product.h"
#include "kernels/vector_ops.h"
#include "train/head.h"

namespace dfrost {
namespace {

// Where ReLU let a value pass.
void pass_back(MatrixView<const float> activation, MatrixView<float> d) {
  for (std::size_t r = 0; r < d.rows(); ++r) {
    const auto passed = activation.row(r);
    const auto own = d.row(r);
    for (std::size_t c = 0; c < own.size(); ++c) own[c] = passed[c] > 0 ? own[c] : 0.0f;
  }
}

void gram(MatrixView<const float> x, Matrix<float>& out) {
  out.resize(x.rows(), x.rows());
  small_product(Transpose::no, Transpose::yes, x, x, out);
}

// kernel += (1 + inputs · inputsᵀ) ∘ behind, where nothing behind stands for ones: a weight and a bias.
void add_layer(MatrixView<const float> inputs, const Matrix<float>* behind, Matrix<float>& scratch,
               Matrix<float>& kernel) {
  gram(inputs, scratch);
  for (std::size_t r = 0; r < kernel.rows(); ++r) {
    const auto out = kernel.view().row(r);
    const auto own = scratch.view().row(r);
    for (std::size_t c = 0; c < out.size(); ++c)
      out[c] += (1.0f + own[c]) * (behind == nullptr ? 1.0f : behind->view()(r, c));
  }
}

// What comes back from all outputs to the layer before the last, as inner products over classes and units:
// the last weights are the same for all pictures, so that classes sum to one factor a unit.
void gram_of_last(MatrixView<const float> last_weight, MatrixView<const float> activation,
                  Matrix<float>& scaled, Matrix<float>& out) {
  const auto classes = static_cast<double>(last_weight.rows());
  std::vector<float> factor(last_weight.cols());
  for (std::size_t h = 0; h < factor.size(); ++h) {
    double sum = 0;
    for (std::size_t c = 0; c < last_weight.rows(); ++c)
      sum += static_cast<double>(last_weight(c, h)) * static_cast<double>(last_weight(c, h));
    factor[h] = static_cast<float>(std::sqrt(sum / classes));
  }
  scaled.resize(activation.rows(), activation.cols());
  for (std::size_t r = 0; r < activation.rows(); ++r) std::ranges::copy(factor, scaled.view().row(r).begin());
  pass_back(activation, scaled);
  gram(scaled, out);
}

// For the layers further down, class by class: behind[l] += (1/C) D_l D_lᵀ.
void add_grams_below(const ClientState& state, const HeadTangent& tangent,
                     std::vector<Matrix<float>>& behind) {
  const std::size_t layers = tangent.inputs.size();
  const std::size_t pictures = tangent.pictures();
  const auto last = state.part(head_weight_name(layers - 1));
  const float share = 1.0f / static_cast<float>(last.rows());
  for (std::size_t l = 0; l + 2 < layers; ++l) {
    behind[l].resize(pictures, pictures);
    std::fill_n(behind[l].data(), pictures * pictures, 0.0f);
  }
  for (std::size_t c = 0; c < last.rows(); ++c) {
    Matrix<float> d, below;
    d.resize(pictures, last.cols());
    for (std::size_t r = 0; r < pictures; ++r) std::ranges::copy(last.row(c), d.view().row(r).begin());
    pass_back(tangent.inputs[layers - 1], d);
    for (std::size_t l = layers - 2; l-- > 0;) {
      const auto weight = state.part(head_weight_name(l + 1));
      below.resize(pictures, weight.cols());
      small_product(Transpose::no, Transpose::no, d, weight, below);
      pass_back(tangent.inputs[l + 1], below);
      std::swap(d, below);
      small_product(Transpose::no, Transpose::yes, d, d, behind[l], {.scale = share, .accumulate = true});
    }
  }
}

}  // namespace

HeadTangent head_tangent(const ClientState& state, MatrixView<const float> features,
                         std::span<const std::size_t> labels) {
  HeadTangent tangent;
  tangent.labels.assign(labels.begin(), labels.end());
  Matrix<float> x;
  x.resize(features.rows(), features.cols());
  for (std::size_t r = 0; r < features.rows(); ++r)
    std::ranges::copy(features.row(r), x.view().row(r).begin());
  for (std::size_t l = 0; state.layout.contains(head_weight_name(l)); ++l) {
    const auto weight = state.part(head_weight_name(l));
    const auto bias = state.part(head_bias_name(l)).row(0);
    Matrix<float> y;
    y.resize(features.rows(), weight.rows());
    if (l > 0)
      for (std::size_t r = 0; r < x.rows(); ++r)
        for (float& value : x.view().row(r)) value = std::max(value, 0.0f);
    for (std::size_t r = 0; r < y.rows(); ++r) std::ranges::copy(bias, y.view().row(r).begin());
    small_product(Transpose::no, Transpose::yes, x, weight, y, {.accumulate = true});
    tangent.inputs.push_back(std::move(x));
    x = std::move(y);
  }
  tangent.outputs = std::move(x);
  return tangent;
}

Matrix<float> tangent_kernel(const ClientState& state, const HeadTangent& tangent) {
  const std::size_t layers = tangent.inputs.size(), pictures = tangent.pictures();
  Matrix<float> kernel, scratch;
  kernel.resize(pictures, pictures);
  std::fill_n(kernel.data(), pictures * pictures, 0.0f);
  add_layer(tangent.inputs.back(), nullptr, scratch, kernel);
  if (layers == 1) return kernel;
  std::vector<Matrix<float>> behind(layers - 1);
  gram_of_last(state.part(head_weight_name(layers - 1)), tangent.inputs.back(), scratch, behind.back());
  if (layers > 2) add_grams_below(state, tangent, behind);
  for (std::size_t l = 0; l + 1 < layers; ++l) add_layer(tangent.inputs[l], &behind[l], scratch, kernel);
  return kernel;
}

void add_along_tangent(const ClientState& state, const HeadTangent& tangent,
                       MatrixView<const float> by_output, float scale, std::span<float> values) {
  Matrix<float> d, below;
  d.resize(by_output.rows(), by_output.cols());
  for (std::size_t r = 0; r < by_output.rows(); ++r)
    std::ranges::copy(by_output.row(r), d.view().row(r).begin());
  for (std::size_t l = tangent.inputs.size(); l-- > 0;) {
    small_product(Transpose::yes, Transpose::no, d, tangent.inputs[l],
                  part_of(state.layout, values, head_weight_name(l)), {.scale = scale, .accumulate = true});
    const auto bias = part_of(state.layout, values, head_bias_name(l)).row(0);
    for (std::size_t r = 0; r < d.rows(); ++r) add_scaled(scale, d.view().row(r), bias);
    if (l == 0) break;
    const auto weight = state.part(head_weight_name(l));
    below.resize(d.rows(), weight.cols());
    small_product(Transpose::no, Transpose::no, d, weight, below);
    pass_back(tangent.inputs[l], below);
    std::swap(d, below);
  }
}

}  // namespace dfrost

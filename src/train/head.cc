#include "train/head.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "kernels/small_product.h"
#include "kernels/vector_ops.h"

namespace dfrost {
namespace {

constexpr std::size_t kPfptHidden = 512;

// Every special_tokens-th row: the CLS token of each image.
template <typename T>
MatrixView<T> cls_rows(MatrixView<T> features, std::size_t special_tokens) {
  return {features.data(), features.rows() / special_tokens, features.cols(),
          features.stride() * special_tokens};
}

MatrixView<const float> first_input(const HeadOptions& head, const Backbone& backbone,
                                    MatrixView<const float> features, const HeadPass& pass) {
  if (pass.frame != nullptr) return pass.framed;
  if (head.kind == HeadKind::pfpt) return pass.frozen_logits;
  return cls_rows(features, backbone.geometry().special_tokens);
}

MatrixView<const float> input_of(const HeadOptions& head, const Backbone& backbone,
                                 MatrixView<const float> features, const HeadPass& pass, std::size_t layer) {
  return layer == 0 ? first_input(head, backbone, features, pass) : pass.hidden[layer - 1].view();
}

// The gradient of what the layer gives.
MatrixView<const float> d_output(const HeadPass& pass, std::size_t layer) {
  return layer == pass.hidden.size() ? pass.d_logits.view() : pass.d_hidden[layer].view();
}

double squared_norm(std::span<const float> x) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

// y = x·Wᵀ + b.
void apply_linear(MatrixView<const float> x, MatrixView<const float> weight, std::span<const float> bias,
                  MatrixView<float> y) {
  for (std::size_t r = 0; r < y.rows(); ++r) std::ranges::copy(bias, y.row(r).begin());
  small_product(Transpose::no, Transpose::yes, x, weight, y, {.accumulate = true});
}

void relu(MatrixView<float> x) {
  for (std::size_t r = 0; r < x.rows(); ++r) {
    for (float& value : x.row(r)) value = std::max(value, 0.0f);
  }
}

// The gradient passes where the activation let the value pass.
void relu_backward(MatrixView<const float> y, MatrixView<float> d) {
  for (std::size_t r = 0; r < y.rows(); ++r) {
    for (std::size_t c = 0; c < y.cols(); ++c) d(r, c) = y(r, c) > 0 ? d(r, c) : 0.0f;
  }
}

void sum_rows(MatrixView<const float> x, std::span<float> sum) {
  std::ranges::fill(sum, 0.0f);
  for (std::size_t r = 0; r < x.rows(); ++r) add_scaled(1.0f, x.row(r), sum);
}

}  // namespace

std::vector<HeadLayer> head_layers(const HeadOptions& head, const Geometry& geometry) {
  switch (head.kind) {
    case HeadKind::linear: return {{geometry.width, head.classes}};
    case HeadKind::pfpt: return {{geometry.classes, kPfptHidden}, {kPfptHidden, head.classes}};
    case HeadKind::mlp: break;
  }
  std::vector<HeadLayer> layers;
  std::size_t inputs = geometry.width;
  for (const std::size_t outputs : head.hidden) {
    layers.push_back({inputs, outputs});
    inputs = outputs;
  }
  layers.push_back({inputs, head.classes});
  return layers;
}

std::string head_weight_name(std::size_t layer) { return fmt::format("head.{}.weight", layer); }
std::string head_bias_name(std::size_t layer) { return fmt::format("head.{}.bias", layer); }

std::size_t head_offset(const StateLayout& layout) { return layout.at(head_weight_name(0)).offset; }

bool drops_out(const HeadOptions& head) { return head.kind == HeadKind::pfpt && head.dropout > 0; }

void draw_dropout(const RandomKey& key, std::size_t step, double rate, MatrixView<float> factors) {
  RandomStream stream(key.seed, fmt::format("dropout in step {}", step), key.client, key.round);
  const auto kept = static_cast<float>(1.0 / (1.0 - rate));
  for (std::size_t r = 0; r < factors.rows(); ++r) {
    for (float& factor : factors.row(r)) factor = stream.uniform() < rate ? 0.0f : kept;
  }
}

MatrixView<const float> head_inputs(const HeadOptions& head, const Backbone& backbone,
                                    MatrixView<const float> features, HeadPass& pass) {
  const auto& geometry = backbone.geometry();
  if (head.kind != HeadKind::pfpt) return cls_rows(features, geometry.special_tokens);
  pass.frozen_logits.resize(features.rows() / geometry.special_tokens, geometry.classes);
  backbone.classify(features, pass.frozen_logits);
  return pass.frozen_logits;
}

void head_forward(const HeadOptions& head, const Backbone& backbone, const ClientState& state,
                  MatrixView<const float> features, MatrixView<const float> dropout, HeadPass& pass) {
  const auto& geometry = backbone.geometry();
  const auto layers = head_layers(head, geometry);
  const std::size_t images = features.rows() / geometry.special_tokens;
  pass.hidden.resize(layers.size() - 1);
  MatrixView<const float> x = head_inputs(head, backbone, features, pass);
  if (pass.frame != nullptr) {
    pass.frame->apply(x, pass.framed);
    x = pass.framed;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool last = i + 1 == layers.size();
    auto& y = last ? pass.logits : pass.hidden[i];
    y.resize(images, layers[i].outputs);
    apply_linear(x, state.part(head_weight_name(i)), state.part(head_bias_name(i)).row(0), y);
    if (!last && head.kind == HeadKind::mlp) relu(y);
    if (!last && !dropout.empty()) multiply_rows(dropout, y);
    x = y;
  }
}

void head_backward(const HeadOptions& head, const Backbone& backbone, const ClientState& state,
                   MatrixView<const float> features, MatrixView<const float> dropout, HeadPass& pass,
                   std::span<float> gradient, MatrixView<float> d_features) {
  head_backward_features(head, backbone, state, dropout, pass, d_features);
  head_gradient(head, backbone, state.layout, features, pass, gradient);
}

void head_backward_features(const HeadOptions& head, const Backbone& backbone, const ClientState& state,
                            MatrixView<const float> dropout, HeadPass& pass, MatrixView<float> d_features) {
  const auto& geometry = backbone.geometry();
  const auto layers = head_layers(head, geometry);
  pass.d_hidden.resize(layers.size() - 1);
  for (std::size_t i = layers.size() - 1; i > 0; --i) {
    const auto dy = d_output(pass, i);
    auto& dx = pass.d_hidden[i - 1];
    dx.resize(dy.rows(), layers[i].inputs);
    small_product(Transpose::no, Transpose::no, dy, state.part(head_weight_name(i)), dx);
    if (!dropout.empty()) multiply_rows(dropout, dx);
    if (head.kind == HeadKind::mlp) relu_backward(pass.hidden[i - 1], dx);
  }
  const auto dy = d_output(pass, 0);
  const auto first_weight = state.part(head_weight_name(0));
  // To what the first layer has read, and through a frame to the inputs as they are.
  const auto to_inputs = [&](MatrixView<float> d_inputs) {
    if (pass.frame == nullptr) return small_product(Transpose::no, Transpose::no, dy, first_weight, d_inputs);
    pass.d_framed.resize(dy.rows(), first_weight.cols());
    small_product(Transpose::no, Transpose::no, dy, first_weight, pass.d_framed);
    pass.frame->apply_backward(pass.d_framed, d_inputs);
  };
  if (head.kind == HeadKind::pfpt) {
    pass.d_frozen_logits.resize(dy.rows(), geometry.classes);
    to_inputs(pass.d_frozen_logits);
    return backbone.classify_backward(pass.d_frozen_logits, d_features);
  }
  for (std::size_t r = 0; r < d_features.rows(); ++r) std::ranges::fill(d_features.row(r), 0.0f);
  to_inputs(cls_rows(d_features, geometry.special_tokens));
}

void head_gradient(const HeadOptions& head, const Backbone& backbone, const StateLayout& layout,
                   MatrixView<const float> features, const HeadPass& pass, std::span<float> gradient) {
  for (std::size_t i = 0; i < pass.hidden.size() + 1; ++i) {
    small_product(Transpose::yes, Transpose::no, d_output(pass, i),
                  input_of(head, backbone, features, pass, i),
                  part_of(layout, gradient, head_weight_name(i)));
    sum_rows(d_output(pass, i), part_of(layout, gradient, head_bias_name(i)).row(0));
  }
}

void add_head_gradient_squares(const HeadOptions& head, const Backbone& backbone,
                               MatrixView<const float> features, const HeadPass& pass,
                               std::span<double> squares) {
  for (std::size_t i = 0; i < pass.hidden.size() + 1; ++i) {
    const auto dy = d_output(pass, i);
    const auto x = input_of(head, backbone, features, pass, i);
    // The bias is a weight of an input that is always 1.
    for (std::size_t r = 0; r < squares.size(); ++r)
      squares[r] += squared_norm(dy.row(r)) * (squared_norm(x.row(r)) + 1);
  }
}

void weigh_images(std::span<const float> weights, HeadPass& pass) {
  const auto weigh = [&](Matrix<float>& d, bool inputs) {
    for (std::size_t r = 0; r < std::min(d.rows(), weights.size()); ++r) {
      if (weights[r] == 0)
        std::ranges::fill(d.row(r), 0.0f);  // whatever it is: nothing times it is not nothing
      if (inputs) continue;
      for (float& value : d.row(r)) value *= weights[r];
    }
  };
  weigh(pass.d_logits, false);
  for (auto& d : pass.d_hidden) weigh(d, false);
  for (auto& x : pass.hidden) weigh(x, true);
  for (auto* x : {&pass.frozen_logits, &pass.framed}) weigh(*x, true);
}

}  // namespace dfrost

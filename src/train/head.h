// The classification head: features of the backbone → logits, and back. A chain of linear maps; between two
// of them ReLU (mlp) or dropout (pfpt). `linear` and `mlp` read the CLS feature, `pfpt` the checkpoint's own
// frozen logits. fp32, on the calling thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dfrost/backbone.h"
#include "kernels/buffer.h"
#include "train/adapter.h"
#include "train/client_state.h"
#include "train/head_frame.h"
#include "train/random_key.h"

namespace dfrost {

struct HeadLayer {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
};
std::vector<HeadLayer> head_layers(const HeadOptions& head, const Geometry& geometry);
std::string head_weight_name(std::size_t layer);
std::string head_bias_name(std::size_t layer);

// Where the head begins in a state's values; it goes on to their end.
std::size_t head_offset(const StateLayout& layout);

// Whether training drops hidden values.
bool drops_out(const HeadOptions& head);

// factors [images, hidden]: 0 with probability `rate`, else 1/(1 − rate). From the key and the step alone.
void draw_dropout(const RandomKey& key, std::size_t step, double rate, MatrixView<float> factors);

// What a forward pass leaves for the backward pass; reused from step to step.
struct HeadPass {
  // Where set, the first layer is one of these coordinates instead of the inputs as they are.
  const HeadFrame* frame = nullptr;
  Matrix<float> framed, d_framed;
  Matrix<float> frozen_logits;        // pfpt: the input of the first layer
  std::vector<Matrix<float>> hidden;  // what enters each layer but the first
  Matrix<float> logits;               // [images, classes]
  Matrix<float> d_logits;             // set by the loss
  std::vector<Matrix<float>> d_hidden;
  Matrix<float> d_frozen_logits;
};

// What enters the first layer, [images, inputs]: the CLS features, or for pfpt the frozen logits, which it
// computes into the pass. A frame is not looked at.
MatrixView<const float> head_inputs(const HeadOptions& head, const Backbone& backbone,
                                    MatrixView<const float> features, HeadPass& pass);

// features [images·special_tokens, width] → pass.logits. Empty dropout factors: nothing is dropped.
void head_forward(const HeadOptions& head, const Backbone& backbone, const ClientState& state,
                  MatrixView<const float> features, MatrixView<const float> dropout, HeadPass& pass);

// From pass.d_logits to the head's parts of `gradient` (overwritten) and to d_features, shaped as features:
// the two below, one after the other.
void head_backward(const HeadOptions& head, const Backbone& backbone, const ClientState& state,
                   MatrixView<const float> features, MatrixView<const float> dropout, HeadPass& pass,
                   std::span<float> gradient, MatrixView<float> d_features);

// Back through the head, which leaves the gradient of what every layer gives in the pass.
void head_backward_features(const HeadOptions& head, const Backbone& backbone, const ClientState& state,
                            MatrixView<const float> dropout, HeadPass& pass, MatrixView<float> d_features);
// From there to the head's parts of `gradient` (overwritten).
void head_gradient(const HeadOptions& head, const Backbone& backbone, const StateLayout& layout,
                   MatrixView<const float> features, const HeadPass& pass, std::span<float> gradient);

// Between those two: adds to `squares` the squared norm of each image's own gradient of all of the head. A
// linear map's gradient by one image is a product of two vectors, so nothing of its size is computed.
void add_head_gradient_squares(const HeadOptions& head, const Backbone& backbone,
                               MatrixView<const float> features, const HeadPass& pass,
                               std::span<double> squares);
// Between those two: makes head_gradient() weigh each image so.
void weigh_images(std::span<const float> weights, HeadPass& pass);

}  // namespace dfrost

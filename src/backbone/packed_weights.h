// A frozen model's matrices, packed once for one arithmetic (Fp32Ops or Bf16Ops), in the orientations that a
// step needs: x·Wᵀ on the way forward, dy·W on the way back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "backbone/vit_weights.h"
#include "kernels/buffer.h"
#include "kernels/encoder_ops.h"
#include "kernels/weight_shelf.h"

namespace dfrost {

// Makes x̂·(W·diag(scale))ᵀ + (bias + W·shift) out of (x̂∘scale + shift)·Wᵀ + bias. The norm in front of a
// frozen matrix then has no parameters left, and its result x̂ is also just what its backward pass needs.
void fold_norm(const NormWeights& norm, LinearWeights& linear);

// Outputs [first, first + count) of a linear map.
LinearWeights take_outputs(const LinearWeights& linear, std::size_t first, std::size_t count);

Matrix<float> transpose(MatrixView<const float> matrix);

template <EncoderOps Ops>
struct PackedLinear {
  typename Ops::Weights forward;
  typename Ops::Weights backward;  // only for training
  std::vector<float> bias;

  PackedLinear() = default;
  PackedLinear(const LinearWeights& linear, bool training, const WeightShelf& shelf) : bias(linear.bias) {
    const MatrixView<const float> matrix(linear.weight.data(), linear.outputs, linear.inputs);
    forward = typename Ops::Weights(linear.outputs, linear.inputs, shelf.at("forward"));
    if (!forward.is_filled()) forward.fill(matrix);
    if (!training) return;
    backward = typename Ops::Weights(linear.inputs, linear.outputs, shelf.at("backward"));
    if (!backward.is_filled()) backward.fill(transpose(matrix));
  }
  std::size_t bytes() const { return forward.bytes() + backward.bytes() + bias.size() * sizeof(float); }
};

template <EncoderOps Ops>
struct PackedMlp {
  PackedLinear<Ops> fc1;  // the norm before it is folded in
  PackedLinear<Ops> fc2;

  PackedMlp() = default;
  PackedMlp(BlockWeights& block, bool training, const WeightShelf& shelf) {
    fold_norm(block.norm2, block.fc1);
    fc1 = {block.fc1, training, shelf.at("fc1")};
    fc2 = {block.fc2, training, shelf.at("fc2")};
  }
  std::size_t bytes() const { return fc1.bytes() + fc2.bytes(); }
};

template <EncoderOps Ops>
struct PackedBlock {
  PackedLinear<Ops> qkv;  // the norm before it is folded in
  PackedLinear<Ops> projection;
  PackedMlp<Ops> mlp;

  PackedBlock() = default;
  PackedBlock(BlockWeights block, bool training, const WeightShelf& shelf) {
    fold_norm(block.norm1, block.qkv);
    qkv = {block.qkv, training, shelf.at("qkv")};
    projection = {block.projection, training, shelf.at("projection")};
    mlp = {block, training, shelf};
  }
  std::size_t bytes() const { return qkv.bytes() + projection.bytes() + mlp.bytes(); }
};

// The last block: nobody reads its patch and prompt tokens any more, so queries are taken for the special
// tokens alone, and the rest of the block runs for those.
template <EncoderOps Ops>
struct PackedLastBlock {
  PackedLinear<Ops> query;
  PackedLinear<Ops> key_value;
  PackedLinear<Ops> projection;
  PackedMlp<Ops> mlp;

  PackedLastBlock() = default;
  PackedLastBlock(BlockWeights block, bool training, const WeightShelf& shelf) {
    fold_norm(block.norm1, block.qkv);
    const std::size_t width = block.qkv.inputs;
    query = {take_outputs(block.qkv, 0, width), training, shelf.at("query")};
    key_value = {take_outputs(block.qkv, width, 2 * width), training, shelf.at("key_value")};
    projection = {block.projection, training, shelf.at("projection")};
    mlp = {block, training, shelf};
  }
  std::size_t bytes() const { return query.bytes() + key_value.bytes() + projection.bytes() + mlp.bytes(); }
};

}  // namespace dfrost

#include "backbone/convit_weights.h"

#include <cassert>

#include "backbone/convit.h"
#include "backbone/position_embeddings.h"
#include "backbone/stored_weights.h"
#include "backbone/weights_fingerprint.h"

namespace dfrost {
namespace {

bool is_gated(const TensorStore& store, const CheckpointLayout& layout, std::size_t block) {
  return store.tensors().contains(layout.naming.in_block(block, "attn.gating_param"));
}

}  // namespace

ConvitWeights::ConvitWeights(const TensorStore& store, const CheckpointLayout& layout,
                             const Geometry& geometry)
    : store_(store), layout_(layout), geometry_(geometry) {
  while (is_gated(store_, layout_, gated_blocks_)) ++gated_blocks_;
}

StemWeights ConvitWeights::read_stem() const {
  const auto& naming = layout_.naming;
  const std::size_t width = geometry_.width;
  const std::size_t grid = layout_.geometry.image_size / geometry_.patch_size;
  const std::size_t new_grid = geometry_.image_size / geometry_.patch_size;
  StemWeights stem;
  stem.patch = read_linear(store_, {naming.patch}, width, geometry_.patch_values(), true);
  stem.special_tokens = read_values(store_, naming.class_token, width);
  stem.patch_positions = read_values(store_, naming.positions, grid * grid * width);
  if (new_grid != grid)
    stem.patch_positions = interpolate_positions(stem.patch_positions, grid, new_grid, width);
  return stem;
}

BlockWeights ConvitWeights::read_block(std::size_t index) const {
  assert(index < geometry_.depth);
  const auto& naming = layout_.naming;
  const std::size_t width = geometry_.width, mlp_width = geometry_.mlp_width;
  const auto stem = [&](const std::string& name) { return naming.in_block(index, name); };
  LinearWeights qkv;
  if (index < gated_blocks_) {
    qkv = read_linear(store_, {stem("attn.qk.")}, 2 * width, width, false);
    const auto value = read_linear(store_, {stem("attn.v.")}, width, width, false);
    qkv.outputs += value.outputs;
    qkv.weight.insert(qkv.weight.end(), value.weight.begin(), value.weight.end());
    qkv.bias.insert(qkv.bias.end(), value.bias.begin(), value.bias.end());
  } else {
    qkv = read_linear(store_, {stem("attn.qkv.")}, 3 * width, width, false);
  }
  return {read_norm(store_, stem(naming.norm1), width),
          std::move(qkv),
          read_linear(store_, {stem(naming.projection)}, width, width, true),
          read_norm(store_, stem(naming.norm2), width),
          read_linear(store_, {stem(naming.fc1)}, mlp_width, width, true),
          read_linear(store_, {stem(naming.fc2)}, width, mlp_width, true)};
}

GateWeights ConvitWeights::read_gate(std::size_t index) const {
  assert(index < gated_blocks_);
  const auto& naming = layout_.naming;
  return {read_linear(store_, {naming.in_block(index, "attn.pos_proj.")}, geometry_.heads, 3, true),
          read_values(store_, naming.in_block(index, "attn.gating_param"), geometry_.heads)};
}

NormWeights ConvitWeights::read_final_norm() const {
  return read_norm(store_, layout_.naming.final_norm, geometry_.width);
}

std::vector<LinearWeights> ConvitWeights::read_heads() const { return dfrost::read_heads(store_, layout_); }

std::unique_ptr<Backbone> ConvitWeights::make_backbone(const Packing& packing) const {
  return make_convit_fp32(*this, packing);
}

void ConvitWeights::add_to(ContentHash& hash) const {
  add_to_hash(read_stem(), hash);
  for (std::size_t i = 0; i < geometry_.depth; ++i) {
    add_to_hash(read_block(i), hash);
    if (i >= gated_blocks_) continue;
    const auto gate = read_gate(i);
    add_to_hash(gate.position, hash);
    hash.add(std::span(gate.gating));
  }
  add_to_hash(read_final_norm(), hash);
  for (const auto& head : read_heads()) add_to_hash(head, hash);
}

std::unique_ptr<WeightSource> open_convit_weights(const TensorStore& store, const CheckpointLayout& layout,
                                                  const Geometry& geometry) {
  return std::make_unique<ConvitWeights>(store, layout, geometry);
}

}  // namespace dfrost

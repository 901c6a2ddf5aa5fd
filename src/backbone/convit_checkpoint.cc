// The weights of a ConViT, read from the tensors of a checkpoint.
#include <cassert>
#include <cstddef>
#include <string>

#include "backbone/convit.h"
#include "backbone/position_embeddings.h"
#include "backbone/stored_weights.h"

namespace dfrost {
namespace {

class StoredConvit final : public StoredWeights<ConvitWeights> {
 public:
  using StoredWeights::StoredWeights;

  StemWeights read_stem() const override {
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

  BlockWeights read_block(std::size_t index) const override {
    return read_block_around(read_qkv(index), store_, layout_, index);
  }

  GateWeights read_gate(std::size_t index) const override {
    assert(index < gated_blocks());
    const auto& naming = layout_.naming;
    return {read_linear(store_, {naming.in_block(index, "attn.pos_proj.")}, geometry_.heads, 3, true),
            read_values(store_, naming.in_block(index, "attn.gating_param"), geometry_.heads)};
  }

 private:
  LinearWeights read_qkv(std::size_t block) const {
    const std::size_t width = geometry_.width;
    const auto stem = [&](const std::string& name) { return layout_.naming.in_block(block, name); };
    if (block >= gated_blocks()) return read_linear(store_, {stem("attn.qkv.")}, 3 * width, width, false);
    auto qkv = read_linear(store_, {stem("attn.qk.")}, 2 * width, width, false);
    const auto value = read_linear(store_, {stem("attn.v.")}, width, width, false);
    qkv.outputs += value.outputs;
    qkv.weight.insert(qkv.weight.end(), value.weight.begin(), value.weight.end());
    qkv.bias.insert(qkv.bias.end(), value.bias.begin(), value.bias.end());
    return qkv;
  }
};

}  // namespace

std::unique_ptr<WeightSource> open_convit_weights(const TensorStore& store, const CheckpointLayout& layout,
                                                  const Geometry& geometry) {
  return std::make_unique<StoredConvit>(store, layout, geometry);
}

}  // namespace dfrost

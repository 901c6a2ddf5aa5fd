// The weights of a plain vision transformer, read from the tensors of a checkpoint.
#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backbone/position_embeddings.h"
#include "backbone/stored_weights.h"
#include "backbone/vit.h"

namespace dfrost {
namespace {

class StoredVit final : public StoredWeights<VitWeights> {
 public:
  using StoredWeights::StoredWeights;

  // The special tokens' positions never change, so they are added here once; those of the patches depend on
  // the image size and are added to every picture.
  StemWeights read_stem() const override {
    const auto& naming = layout_.naming;
    const std::size_t width = geometry_.width;
    StemWeights stem;
    stem.patch = read_linear(store_, {naming.patch}, width, geometry_.patch_values(), true);
    auto tokens = read_values(store_, naming.class_token, width);
    if (geometry_.special_tokens == 2) {
      const auto distillation = read_values(store_, naming.distillation_token, width);
      tokens.insert(tokens.end(), distillation.begin(), distillation.end());
    }
    const std::size_t grid = layout_.geometry.image_size / geometry_.patch_size;
    const auto positions = read_values(store_, naming.positions, tokens.size() + grid * grid * width);
    std::transform(tokens.begin(), tokens.end(), positions.begin(), tokens.begin(), std::plus<>());
    const auto of_patches = std::span(positions).subspan(tokens.size());
    const std::size_t new_grid = geometry_.image_size / geometry_.patch_size;
    stem.patch_positions = new_grid == grid ? std::vector<float>(of_patches.begin(), of_patches.end())
                                            : interpolate_positions(of_patches, grid, new_grid, width);
    stem.special_tokens = std::move(tokens);
    return stem;
  }

  BlockWeights read_block(std::size_t index) const override {
    const std::size_t width = geometry_.width;
    std::vector<std::string> qkv;
    for (const auto& name : layout_.naming.qkv) qkv.push_back(layout_.naming.in_block(index, name));
    return read_block_around(read_linear(store_, qkv, 3 * width, width, layout_.has_qkv_bias), store_,
                             layout_, index);
  }
};

}  // namespace

std::unique_ptr<WeightSource> open_vit_weights(const TensorStore& store, const CheckpointLayout& layout,
                                               const Geometry& geometry) {
  return std::make_unique<StoredVit>(store, layout, geometry);
}

}  // namespace dfrost

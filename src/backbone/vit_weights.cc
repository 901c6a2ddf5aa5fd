#include "backbone/vit_weights.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "backbone/vit.h"
#include "backbone/weights_fingerprint.h"

namespace dfrost {

std::unique_ptr<Backbone> VitWeights::make_backbone(const Packing& packing) const {
  assert(packing.precision != Precision::automatic);
  return packing.precision == Precision::bf16 ? make_vit_bf16(*this, packing) : make_vit_fp32(*this, packing);
}

// [K; V] · diag(scale) · (I − 11ᵀ/width): of a norm all but the division by a token's own deviation, which is
// no linear map.
std::vector<float> key_value_map(const BlockWeights& block) {
  const auto& scale = block.norm1.scale;
  const std::size_t width = scale.size(), rows = 2 * width;
  const float* const weights = block.qkv.weight.data() + width * width;  // behind the queries
  std::vector<double> map(rows * width);
  double squares = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    double* const row = map.data() + r * width;
    double mean = 0;
    for (std::size_t c = 0; c < width; ++c) {
      row[c] = static_cast<double>(weights[r * width + c]) * static_cast<double>(scale[c]);
      mean += row[c] / static_cast<double>(width);
    }
    for (std::size_t c = 0; c < width; ++c) {
      row[c] -= mean;
      squares += row[c] * row[c];
    }
  }
  const double unit = squares > 0 ? std::sqrt(static_cast<double>(width) / squares) : 0;
  std::vector<float> result(map.size());
  std::ranges::transform(map, result.begin(), [&](double value) { return static_cast<float>(unit * value); });
  return result;
}

void add_to_hash(const StemWeights& stem, ContentHash& hash) {
  add_to_hash(stem.patch, hash);
  hash.add(std::span(stem.special_tokens));
  hash.add(std::span(stem.patch_positions));
}

void add_to_hash(const BlockWeights& block, ContentHash& hash) {
  add_to_hash(block.norm1, hash);
  add_to_hash(block.qkv, hash);
  add_to_hash(block.projection, hash);
  add_to_hash(block.norm2, hash);
  add_to_hash(block.fc1, hash);
  add_to_hash(block.fc2, hash);
}

void VitWeights::add_to(ContentHash& hash) const {
  add_to_hash(read_stem(), hash);
  for (std::size_t i = 0; i < geometry().depth; ++i) add_to_hash(read_block(i), hash);
  add_to_hash(read_final_norm(), hash);
  for (const auto& head : read_heads()) add_to_hash(head, hash);
}

}  // namespace dfrost

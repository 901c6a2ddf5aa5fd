#include "backbone/vit_weights.h"

#include <cassert>

#include "backbone/vit.h"
#include "backbone/weights_fingerprint.h"

namespace dfrost {

std::unique_ptr<Backbone> VitWeights::make_backbone(const Packing& packing) const {
  assert(packing.precision != Precision::automatic);
  return packing.precision == Precision::bf16 ? make_vit_bf16(*this, packing) : make_vit_fp32(*this, packing);
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

#include "backbone/weights_fingerprint.h"

#include <span>

#include "base/content_hash.h"

namespace dfrost {
namespace {

void add(const NormWeights& norm, ContentHash& hash) {
  hash.add(std::span(norm.scale));
  hash.add(std::span(norm.shift));
}

void add(const LinearWeights& linear, ContentHash& hash) {
  hash.add(std::span(linear.weight));
  hash.add(std::span(linear.bias));
}

}  // namespace

std::string weights_fingerprint(const WeightSource& source) {
  ContentHash hash;
  const Geometry& geometry = source.geometry();
  const std::size_t shape[] = {geometry.heads, geometry.special_tokens};  // what the weights do not show
  hash.add(std::span(shape));
  const auto stem = source.read_stem();
  add(stem.patch, hash);
  hash.add(std::span(stem.special_tokens));
  hash.add(std::span(stem.patch_positions));
  for (std::size_t i = 0; i < geometry.depth; ++i) {
    const auto block = source.read_block(i);
    add(block.norm1, hash);
    add(block.qkv, hash);
    add(block.projection, hash);
    add(block.norm2, hash);
    add(block.fc1, hash);
    add(block.fc2, hash);
  }
  add(source.read_final_norm(), hash);
  for (const auto& head : source.read_heads()) add(head, hash);
  return hash.hex();
}

}  // namespace dfrost

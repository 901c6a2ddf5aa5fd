#include "backbone/weights_fingerprint.h"

#include <span>

namespace dfrost {

void add_to_hash(const NormWeights& norm, ContentHash& hash) {
  hash.add(std::span(norm.scale));
  hash.add(std::span(norm.shift));
}

void add_to_hash(const LinearWeights& linear, ContentHash& hash) {
  hash.add(std::span(linear.weight));
  hash.add(std::span(linear.bias));
}

std::string weights_fingerprint(const WeightSource& source) {
  ContentHash hash;
  const Geometry& geometry = source.geometry();
  const std::size_t shape[] = {geometry.heads, geometry.special_tokens};  // what the weights do not show
  hash.add(std::span(shape));
  source.add_to(hash);
  return hash.hex();
}

}  // namespace dfrost

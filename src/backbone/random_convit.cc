#include <algorithm>
#include <cassert>

#include "backbone/convit.h"
#include "backbone/random_weights.h"

namespace dfrost {

BlockWeights RandomConvit::read_block(std::size_t index) const {
  auto block = plain_.read_block(index);
  std::ranges::fill(block.qkv.bias, 0.0f);
  return block;
}

// A published ConViT begins with heads that look one patch ahead in as many directions, and with gates of
// 0.73; training spreads both.
GateWeights RandomConvit::read_gate(std::size_t index) const {
  assert(index < gated_blocks());
  const std::size_t heads = geometry().heads;
  RandomStream stream(seed_, "gate", index);
  GateWeights gate{{heads, 3, {}, std::vector<float>(heads)}, {}};
  for (std::size_t h = 0; h < heads; ++h) {
    for (const double mean : {0.0, 0.0, -1.0})
      gate.position.weight.push_back(static_cast<float>(mean + stream.uniform(-0.5, 0.5)));
    gate.gating.push_back(static_cast<float>(stream.uniform(-1, 3)));
  }
  return gate;
}

std::unique_ptr<WeightSource> random_convit_weights(const Geometry& geometry, Seed seed) {
  return std::make_unique<RandomConvit>(geometry, seed);
}

}  // namespace dfrost

#include "backbone/weight_memory.h"

#include <cassert>

namespace dfrost {

std::size_t packed_weight_bytes(const Geometry& g, Precision precision, bool training) {
  assert(precision != Precision::automatic);
  const std::size_t value_bytes = precision == Precision::bf16 ? 2 : 4;
  const std::size_t orientations = training ? 2 : 1;
  // Queries, keys, values and projection are 4·width²; the two layers of the MLP 2·width·mlp_width.
  const std::size_t block_values = 4 * g.width * g.width + 2 * g.width * g.mlp_width;
  const std::size_t block_biases = 5 * g.width + g.mlp_width;
  const std::size_t tokens = (g.special_tokens + g.patches()) * g.width;
  const std::size_t classifiers = g.special_tokens * g.classes * (g.width + 1);
  return value_bytes * (orientations * g.depth * block_values + g.width * g.patch_values()) +
         4 * (g.depth * block_biases + g.width + tokens + classifiers);
}

}  // namespace dfrost

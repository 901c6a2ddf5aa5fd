// The weights of a plain vision transformer in one canonical form, whatever file they came from.
#pragma once

#include <cstddef>
#include <vector>

#include "backbone/weights.h"

namespace dfrost {

struct StemWeights {
  LinearWeights patch;                 // [width, 3·patch²], inputs ordered channel, row, column; or none
  std::vector<float> special_tokens;   // [special_tokens, width], position embeddings already added
  std::vector<float> patch_positions;  // [patches, width]
};

struct BlockWeights {
  NormWeights norm1;
  LinearWeights qkv;  // [3·width, width]: all queries, then all keys, then all values
  LinearWeights projection;
  NormWeights norm2;
  LinearWeights fc1;
  LinearWeights fc2;
};

// For first_block_map().
std::vector<float> key_value_map(const BlockWeights& block);

class VitWeights : public WeightSource {
 public:
  virtual StemWeights read_stem() const = 0;
  virtual BlockWeights read_block(std::size_t index) const = 0;
  virtual NormWeights read_final_norm() const = 0;
  // The CLS token's head, and the distillation token's where the checkpoint has both (a distilled DeiT
  // averages them); empty when it has none.
  virtual std::vector<LinearWeights> read_heads() const = 0;

  std::unique_ptr<Backbone> make_backbone(const Packing& packing) const final;
  std::vector<float> first_block_map() const final { return key_value_map(read_block(0)); }
  void add_to(ContentHash& hash) const final;
};

// For add_to(), of whatever is made of such parts. The order is part of every fingerprint that adapters
// carry: it cannot change.
void add_to_hash(const StemWeights& stem, ContentHash& hash);
void add_to_hash(const BlockWeights& block, ContentHash& hash);

}  // namespace dfrost

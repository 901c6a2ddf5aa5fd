// The weights of a frozen vision transformer in one canonical form, whatever file they came from.
// A source hands them out piece by piece as fp32, so that packing a model never holds two copies of it.
#pragma once

#include <cstddef>
#include <vector>

#include "dfrost/geometry.h"

namespace dfrost {

// y = x·weightᵀ + bias, weight [outputs, inputs] row-major.
struct LinearWeights {
  std::size_t outputs = 0;
  std::size_t inputs = 0;
  std::vector<float> weight;
  std::vector<float> bias;  // always present; zeros where the checkpoint has none
};

struct NormWeights {
  std::vector<float> scale;
  std::vector<float> shift;
};

struct StemWeights {
  LinearWeights patch;                 // [width, 3·patch²], inputs ordered channel, row, column
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

class WeightSource {
 public:
  virtual ~WeightSource() = default;
  virtual const Geometry& geometry() const = 0;
  virtual StemWeights read_stem() const = 0;
  virtual BlockWeights read_block(std::size_t index) const = 0;
  virtual NormWeights read_final_norm() const = 0;
  // The CLS token's head, and the distillation token's where the checkpoint has both (a distilled DeiT
  // averages them); empty when it has none.
  virtual std::vector<LinearWeights> read_heads() const = 0;
};

}  // namespace dfrost

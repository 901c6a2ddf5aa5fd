// Where the weights of a frozen model come from, whatever its architecture: a checkpoint, or random numbers.
// A source hands them out piece by piece as fp32, so that packing a model never holds two copies of it; which
// pieces there are is its architecture's business (vit_weights.h). Reading is thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dfrost/backbone.h"
#include "dfrost/geometry.h"
#include "kernels/weight_shelf.h"

namespace dfrost {

class ContentHash;

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

struct Packing {
  Precision precision = Precision::fp32;  // or bf16
  bool training = true;
  ThreadPool* threads = nullptr;  // may be null
  WeightShelf shelf = {};         // where large matrices go
};

class WeightSource {
 public:
  virtual ~WeightSource() = default;
  virtual const Geometry& geometry() const = 0;
  // Whether there is an encoder for them in this arithmetic, fp32 or bf16; in fp32 there always is.
  virtual bool runs(Precision) const { return true; }
  // Packs them for one arithmetic, which runs.
  virtual std::unique_ptr<Backbone> make_backbone(const Packing& packing) const = 0;
  // What keys and values of the first block are of a difference of two tokens, were they of one length:
  // [2·width, width], keys above values, scaled so that its squared entries sum to width. Empty where there
  // is no such block.
  virtual std::vector<float> first_block_map() const { return {}; }
  // All that decides what the model computes, in one fixed order.
  virtual void add_to(ContentHash& hash) const = 0;
};

// `memory`: where its large matrices go; null: memory of this process alone.
std::unique_ptr<Backbone> make_backbone(const WeightSource& source, const BackboneOptions& options,
                                        WeightMemory* memory = nullptr);

}  // namespace dfrost

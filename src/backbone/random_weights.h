// Seeded random weights of a vision transformer in a published geometry, for benchmarks and tests where no
// checkpoint is at hand. Every tensor has its own random stream: a piece is the same whatever was read
// before it, on every machine.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backbone/convit_weights.h"
#include "backbone/vit_weights.h"
#include "base/random.h"

namespace dfrost {

// vit-b32, vit-b16, vit-l16, vit-s16, deit-tiny, convit-base, convit-small, convit-tiny, and tiny (small
// enough for finite differences).
std::vector<std::string> model_names();

// Throws (invalid_argument, with the nearest name as a hint) for an unknown name.
Geometry geometry_of_model(std::string_view name);

// Of the geometry's architecture, which is not that of pixels.
std::unique_ptr<WeightSource> random_weights(const Geometry& geometry, Seed seed);

// Of a plain transformer.
class RandomWeights : public VitWeights {
 public:
  RandomWeights(const Geometry& geometry, Seed seed);

  const Geometry& geometry() const override { return geometry_; }
  StemWeights read_stem() const override;
  BlockWeights read_block(std::size_t index) const override;
  NormWeights read_final_norm() const override;
  std::vector<LinearWeights> read_heads() const override;

 private:
  std::vector<float> draw(std::string_view purpose, std::size_t index, std::size_t count,
                          double deviation) const;
  LinearWeights linear(std::string_view purpose, std::size_t index, std::size_t outputs,
                       std::size_t inputs) const;
  NormWeights norm(std::string_view purpose, std::size_t index) const;

  Geometry geometry_;
  Seed seed_;
};

// Those of a plain transformer without biases of queries, keys and values, and gates.
class RandomConvit final : public ConvitWeights {
 public:
  RandomConvit(const Geometry& geometry, Seed seed) : plain_(geometry, seed), seed_(seed) {}

  const Geometry& geometry() const override { return plain_.geometry(); }
  StemWeights read_stem() const override { return plain_.read_stem(); }
  BlockWeights read_block(std::size_t index) const override;
  GateWeights read_gate(std::size_t index) const override;
  NormWeights read_final_norm() const override { return plain_.read_final_norm(); }
  std::vector<LinearWeights> read_heads() const override { return plain_.read_heads(); }

 private:
  RandomWeights plain_;
  Seed seed_;
};

}  // namespace dfrost

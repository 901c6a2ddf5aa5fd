// ConViT: what its row in the table of architectures is made of, each function as architecture.h describes
// it, and the backbone that its weights become.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "backbone/architecture.h"
#include "backbone/convit_weights.h"
#include "base/random.h"

namespace dfrost {

bool is_convit(const TensorDescriptions& tensors);
CheckpointLayout infer_convit_layout(const TensorDescriptions& tensors, const CheckpointConfig& config,
                                     std::size_t heads);
DefaultPreprocessing convit_preprocessing(const CheckpointLayout& layout, const std::filesystem::path& path);
std::unique_ptr<WeightSource> open_convit_weights(const TensorStore& store, const CheckpointLayout& layout,
                                                  const Geometry& geometry);
std::unique_ptr<WeightSource> random_convit_weights(const Geometry& geometry, Seed seed);
StepFlops convit_flops(const Geometry& geometry, std::size_t prompts);
std::size_t convit_weight_bytes(const Geometry& geometry, Precision precision, bool training);

// One per arithmetic, each compiled in a file of its own.
std::unique_ptr<Backbone> make_convit_fp32(const ConvitWeights& weights, const Packing& packing);
// Needs bf16_usable().
std::unique_ptr<Backbone> make_convit_bf16(const ConvitWeights& weights, const Packing& packing);

}  // namespace dfrost

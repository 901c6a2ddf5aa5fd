// The plain vision transformer (ViT, DeiT): what its row in the table of architectures is made of, each
// function as architecture.h describes it, and the backbone that its weights become.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "backbone/architecture.h"
#include "backbone/vit_weights.h"
#include "base/random.h"

namespace dfrost {

bool is_vit(const TensorDescriptions& tensors);  // in the names of any family
CheckpointLayout infer_vit_layout(const TensorDescriptions& tensors, const CheckpointConfig& config,
                                  std::size_t heads);
DefaultPreprocessing vit_preprocessing(const CheckpointLayout& layout, const std::filesystem::path& path);
std::unique_ptr<WeightSource> open_vit_weights(const TensorStore& store, const CheckpointLayout& layout,
                                               const Geometry& geometry);
std::unique_ptr<WeightSource> random_vit_weights(const Geometry& geometry, Seed seed);
StepFlops vit_flops(const Geometry& geometry, std::size_t prompts);
std::size_t vit_weight_bytes(const Geometry& geometry, Precision precision, bool training);

// One per arithmetic, each compiled in a file of its own.
std::unique_ptr<Backbone> make_vit_fp32(const VitWeights& weights, const Packing& packing);
// Needs bf16_usable().
std::unique_ptr<Backbone> make_vit_bf16(const VitWeights& weights, const Packing& packing);

}  // namespace dfrost

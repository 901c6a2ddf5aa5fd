// What PyTorch is told so that it can train the same adapters around the same frozen model (train/oracle.py).
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backbone/random_weights.h"
#include "base/safetensors.h"
#include "train/adapter.h"
#include "train/local_update.h"

namespace dfrost::test {

// Steps large enough that what they do stands far above rounding.
inline void enlarge_steps(OptimizerOptions& optimizer) {
  if (optimizer.kind == OptimizerKind::adam) {
    optimizer.learning_rate = 0.01;
    // A gradient that is all rounding must not become a step of full size, or the CPU's kernels decide how
    // near two right answers come.
    optimizer.epsilon = 1e-6;
  } else {
    optimizer.learning_rate = optimizer.momentum > 0 ? 0.05 : 0.3;
  }
  if (optimizer.sam_radius > 0) optimizer.sam_radius = 0.2;
}

inline nlohmann::json describe_optimizer(const OptimizerOptions& o) {
  return {{"kind", to_string(o.kind)},
          {"learning_rate", o.learning_rate},
          {"epsilon", o.epsilon},
          {"momentum", o.momentum},
          {"sam_radius", o.sam_radius}};
}

inline nlohmann::json describe_training(const AdapterOptions& adapter, const TrainOptions& train,
                                        const Geometry& g) {
  const auto& prompts = adapter.prompts;
  return {{"geometry",
           {{"depth", g.depth},
            {"heads", g.heads},
            {"special_tokens", g.special_tokens},
            {"epsilon", g.layer_norm_epsilon}}},
          {"head", to_string(adapter.head.kind)},
          {"classes", adapter.head.classes},
          {"mask", to_string(train.mask)},
          {"batch", train.batch},
          {"optimizer", describe_optimizer(train.optimizer)},
          {"prompt_epochs", train.prompt_epochs},
          {"prompt_rate", train.prompt_rate},
          {"prompt_pull", train.prompt_pull},
          {"prompts",
           {{"selects", prompts.selects()},
            {"count", prompts.count},
            {"keys", to_string(prompts.keys)},
            {"choice", to_string(prompts.choice)},
            {"similarity_weight", prompts.similarity_weight}}}};
}

// The frozen model under plain names.
inline void export_model(const RandomWeights& weights, const std::filesystem::path& path) {
  std::vector<FloatTensor> tensors;
  const Geometry& g = weights.geometry();
  const auto add_linear = [&](const std::string& name, const LinearWeights& linear) {
    tensors.push_back({name + ".weight", {linear.outputs, linear.inputs}, linear.weight});
    tensors.push_back({name + ".bias", {linear.outputs}, linear.bias});
  };
  const auto add_norm = [&](const std::string& name, const NormWeights& norm) {
    tensors.push_back({name + ".scale", {g.width}, norm.scale});
    tensors.push_back({name + ".shift", {g.width}, norm.shift});
  };
  const auto stem = weights.read_stem();
  add_linear("patch", stem.patch);
  tensors.push_back({"special_tokens", {g.special_tokens, g.width}, stem.special_tokens});
  tensors.push_back({"positions", {g.patches(), g.width}, stem.patch_positions});
  std::vector<BlockWeights> blocks;
  for (std::size_t i = 0; i < g.depth; ++i) blocks.push_back(weights.read_block(i));
  for (std::size_t i = 0; i < g.depth; ++i) {
    add_norm(fmt::format("{}.norm1", i), blocks[i].norm1);
    add_linear(fmt::format("{}.qkv", i), blocks[i].qkv);
    add_linear(fmt::format("{}.projection", i), blocks[i].projection);
    add_norm(fmt::format("{}.norm2", i), blocks[i].norm2);
    add_linear(fmt::format("{}.fc1", i), blocks[i].fc1);
    add_linear(fmt::format("{}.fc2", i), blocks[i].fc2);
  }
  const auto final_norm = weights.read_final_norm();
  add_norm("final_norm", final_norm);
  const auto heads = weights.read_heads();
  for (std::size_t i = 0; i < heads.size(); ++i) add_linear(fmt::format("head{}", i), heads[i]);
  write_safetensors(path, tensors);
}

}  // namespace dfrost::test

// A small vision transformer in timm's names, to be written whole or spoilt in one place.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/safetensors.h"

namespace dfrost::test {

struct SmallCheckpoint {
  static constexpr std::size_t kWidth = 64, kDepth = 2, kMlpWidth = 96, kPatch = 4, kGrid = 3, kClasses = 5;

  std::map<std::string, Shape> shapes;

  SmallCheckpoint() {
    shapes["patch_embed.proj.weight"] = {kWidth, 3, kPatch, kPatch};
    shapes["patch_embed.proj.bias"] = {kWidth};
    shapes["cls_token"] = {1, 1, kWidth};
    shapes["pos_embed"] = {1, 1 + kGrid * kGrid, kWidth};
    for (std::size_t i = 0; i < kDepth; ++i) {
      add_norm(fmt::format("blocks.{}.norm1", i));
      add_linear(fmt::format("blocks.{}.attn.qkv", i), 3 * kWidth, kWidth);
      add_linear(fmt::format("blocks.{}.attn.proj", i), kWidth, kWidth);
      add_norm(fmt::format("blocks.{}.norm2", i));
      add_linear(fmt::format("blocks.{}.mlp.fc1", i), kMlpWidth, kWidth);
      add_linear(fmt::format("blocks.{}.mlp.fc2", i), kWidth, kMlpWidth);
    }
    add_norm("norm");
    add_linear("head", kClasses, kWidth);
  }

  // Values 0, 1, 2 … through each tensor.
  void write(const std::filesystem::path& path) const {
    std::vector<std::vector<float>> values;
    std::vector<FloatTensor> tensors;
    for (const auto& [name, shape] : shapes) {
      auto& own = values.emplace_back(*element_count(shape));
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<float>(i);
    }
    for (std::size_t i = 0; const auto& [name, shape] : shapes) tensors.push_back({name, shape, values[i++]});
    write_safetensors(path, tensors);
  }

 private:
  void add_norm(const std::string& stem) { shapes[stem + ".weight"] = shapes[stem + ".bias"] = {kWidth}; }
  void add_linear(const std::string& stem, std::size_t outputs, std::size_t inputs) {
    shapes[stem + ".weight"] = {outputs, inputs};
    shapes[stem + ".bias"] = {outputs};
  }
};

}  // namespace dfrost::test

#include "backbone/stored_weights.h"

#include <cassert>
#include <span>
#include <utility>

namespace dfrost {

std::vector<float> read_values(const TensorStore& store, const std::string& name, std::size_t count) {
  std::vector<float> values(count);
  store.read(name, values);
  return values;
}

NormWeights read_norm(const TensorStore& store, const std::string& stem, std::size_t width) {
  return {read_values(store, stem + "weight", width), read_values(store, stem + "bias", width)};
}

LinearWeights read_linear(const TensorStore& store, const std::vector<std::string>& stems,
                          std::size_t outputs, std::size_t inputs, bool has_bias) {
  LinearWeights linear{outputs, inputs, std::vector<float>(outputs * inputs), std::vector<float>(outputs)};
  const std::size_t rows = outputs / stems.size();
  for (std::size_t i = 0; i < stems.size(); ++i) {
    store.read(stems[i] + "weight", std::span(linear.weight).subspan(i * rows * inputs, rows * inputs));
    if (has_bias) store.read(stems[i] + "bias", std::span(linear.bias).subspan(i * rows, rows));
  }
  return linear;
}

std::vector<LinearWeights> read_heads(const TensorStore& store, const CheckpointLayout& layout) {
  const Geometry& g = layout.geometry;
  std::vector<LinearWeights> heads;
  for (const auto& stem : layout.heads) heads.push_back(read_linear(store, {stem}, g.classes, g.width, true));
  return heads;
}

BlockWeights read_block_around(LinearWeights qkv, const TensorStore& store, const CheckpointLayout& layout,
                               std::size_t index) {
  assert(index < layout.geometry.depth);
  const auto& naming = layout.naming;
  const std::size_t width = layout.geometry.width, mlp_width = layout.geometry.mlp_width;
  const auto stem = [&](const std::string& name) { return naming.in_block(index, name); };
  return {read_norm(store, stem(naming.norm1), width),
          std::move(qkv),
          read_linear(store, {stem(naming.projection)}, width, width, true),
          read_norm(store, stem(naming.norm2), width),
          read_linear(store, {stem(naming.fc1)}, mlp_width, width, true),
          read_linear(store, {stem(naming.fc2)}, width, mlp_width, true)};
}

}  // namespace dfrost

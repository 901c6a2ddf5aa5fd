// The plain transformer encoder as a textbook writes it, one image at a time, in any type: every token
// through every block, norms with their affine parts, nothing folded, packed or skipped. Slow; what
// VitEncoder must agree with, and in double the ground for finite differences.
#pragma once

#include <span>
#include <vector>

#include "backbone/vit_weights.h"
#include "kernels/attention.h"
#include "kernels/reference.h"

namespace dfrost {

template <typename T>
class ReferenceEncoder {
 public:
  explicit ReferenceEncoder(const VitWeights& source)
      : geometry_(source.geometry()), stem_(source.read_stem()), final_norm_(source.read_final_norm()) {
    for (std::size_t i = 0; i < geometry_.depth; ++i) blocks_.push_back(source.read_block(i));
  }

  // pixels [patches, 3·patch²] → [patches, width].
  std::vector<T> embed(std::span<const T> pixels) const {
    auto patches = apply(stem_.patch, pixels);
    for (std::size_t i = 0; i < patches.size(); ++i) patches[i] += T(stem_.patch_positions[i]);
    return patches;
  }

  // patches [patches, width], prompts [n, width] → the special tokens after the final norm.
  std::vector<T> features(std::span<const T> patches, std::span<const T> prompts) const {
    std::vector<T> x(stem_.special_tokens.begin(), stem_.special_tokens.end());
    x.insert(x.end(), prompts.begin(), prompts.end());
    x.insert(x.end(), patches.begin(), patches.end());
    for (const auto& block : blocks_) {
      const auto attended = attend(apply(block.qkv, norm(block.norm1, x)));
      add(apply(block.projection, attended), x);
      auto hidden = apply(block.fc1, norm(block.norm2, x));
      for (T& h : hidden) h = reference::gelu(h);
      add(apply(block.fc2, hidden), x);
    }
    auto out = norm(final_norm_, x);
    out.resize(geometry_.special_tokens * geometry_.width);
    return out;
  }

 private:
  static std::vector<T> apply(const LinearWeights& linear, std::span<const T> x) {
    const std::size_t rows = x.size() / linear.inputs;
    std::vector<T> y(rows * linear.outputs);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t o = 0; o < linear.outputs; ++o) {
        T sum = T(linear.bias[o]);
        for (std::size_t i = 0; i < linear.inputs; ++i) {
          sum += x[r * linear.inputs + i] * T(linear.weight[o * linear.inputs + i]);
        }
        y[r * linear.outputs + o] = sum;
      }
    }
    return y;
  }

  std::vector<T> norm(const NormWeights& weights, std::span<const T> x) const {
    const std::size_t width = geometry_.width, rows = x.size() / width;
    std::vector<T> y(x.size()), inverse_std(rows);
    reference::normalize<T>({x.data(), rows, width}, T(geometry_.layer_norm_epsilon), {y.data(), rows, width},
                            inverse_std);
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = y[i] * T(weights.scale[i % width]) + T(weights.shift[i % width]);
    return y;
  }

  std::vector<T> attend(const std::vector<T>& qkv) const {
    const std::size_t width = geometry_.width, rows = qkv.size() / (3 * width);
    std::vector<T> out(rows * width);
    reference::attention<T>({qkv.data(), rows, 3 * width}, {1, rows, geometry_.heads, geometry_.head_size()},
                            {out.data(), rows, width});
    return out;
  }

  static void add(const std::vector<T>& y, std::vector<T>& x) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }

  Geometry geometry_;
  StemWeights stem_;
  std::vector<BlockWeights> blocks_;
  NormWeights final_norm_;
};

}  // namespace dfrost

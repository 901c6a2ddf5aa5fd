// The body of VitEncoder<Ops>, included once per arithmetic by the file that instantiates it.
#pragma once

#include <algorithm>
#include <cassert>

#include "backbone/vit_encoder.h"
#include "base/thread_pool.h"
#include "kernels/few_query_attention.h"
#include "kernels/vector_ops.h"

namespace dfrost {

template <EncoderOps Ops>
void VitTape<Ops>::lay_out(const Geometry& geometry, std::size_t images, std::size_t prompt_count) {
  shape = {images, geometry.tokens(prompt_count), geometry.heads, geometry.head_size()};
  prompts = prompt_count;
  special_rows.clear();
  prompt_rows.clear();
  for (std::size_t image = 0; image < images; ++image) {
    const std::size_t first = image * shape.tokens;
    for (std::size_t t = 0; t < geometry.special_tokens; ++t) special_rows.push_back(first + t);
    for (std::size_t p = 0; p < prompts; ++p) prompt_rows.push_back(first + geometry.special_tokens + p);
  }
}

template <EncoderOps Ops>
VitEncoder<Ops>::VitEncoder(const VitWeights& source, const Packing& packing)
    : geometry_(source.geometry()), training_(packing.training), blocks_(geometry_.depth - 1) {
  auto stem = source.read_stem();
  if (stem.patch.outputs > 0) patch_ = {stem.patch, false, packing.shelf.at("patch")};
  special_tokens_ = std::move(stem.special_tokens);
  patch_positions_ = std::move(stem.patch_positions);
  final_norm_ = source.read_final_norm();
  // Packing the blocks is most of the time until a model is ready, and none waits for another.
  const auto pack_block = [&](std::size_t i, std::size_t) {
    const auto shelf = packing.shelf.at(i);
    if (i + 1 == geometry_.depth) {
      last_ = {source.read_block(i), training_, shelf};
    } else {
      blocks_[i] = {source.read_block(i), training_, shelf};
    }
  };
  if (packing.threads != nullptr) {
    packing.threads->parallel_for(geometry_.depth, pack_block);
  } else {
    for (std::size_t i = 0; i < geometry_.depth; ++i) pack_block(i, 0);
  }
}

template <EncoderOps Ops>
std::size_t VitEncoder<Ops>::weight_bytes() const {
  std::size_t bytes = patch_.bytes() + last_.bytes();
  for (const auto& block : blocks_) bytes += block.bytes();
  return bytes + (special_tokens_.size() + patch_positions_.size()) * sizeof(float);
}

// positions [patches, width] of one image.
template <EncoderOps Ops>
void embed_patches(const PackedLinear<Ops>& patch, std::span<const float> positions,
                   MatrixView<const float> pixels, MatrixView<float> patches) {
  thread_local typename Ops::Operand packed;
  Ops::pack(pixels, packed);
  Ops::product(packed, patch.forward, patch.bias, patches);
  const std::size_t width = patches.cols(), per_image = positions.size() / width;
  for (std::size_t r = 0; r < patches.rows(); ++r)
    add_scaled(1.0f, positions.subspan(r % per_image * width, width), patches.row(r));
}

template <EncoderOps Ops>
void VitEncoder<Ops>::embed(MatrixView<const float> pixels, MatrixView<float> patches) const {
  embed_patches(patch_, patch_positions_, pixels, patches);
}

template <EncoderOps Ops>
void VitEncoder<Ops>::gather_tokens(const Batch& chunk, VitTape<Ops>& tape) const {
  const std::size_t patches = geometry_.patches(), width = geometry_.width;
  tape.x.resize(tape.shape.rows(), width);
  auto row = tape.x.data();
  const auto append = [&](std::span<const float> values) { row = std::ranges::copy(values, row).out; };
  for (std::size_t image = 0; image < chunk.images; ++image) {
    append(special_tokens_);
    for (std::size_t p = 0; p < tape.prompts; ++p) {
      append(chunk.prompts.row(chunk.shares_prompts() ? p : image * tape.prompts + p));
    }
    for (std::size_t p = 0; p < patches; ++p) append(chunk.patches.row(image * patches + p));
  }
}

template <EncoderOps Ops>
void VitEncoder<Ops>::forward(const Batch& chunk, MatrixView<float> features, bool keep,
                              VitTape<Ops>& tape) const {
  tape.lay_out(geometry_, chunk.images, chunk.prompts_per_image);
  gather_tokens(chunk, tape);
  forward_blocks(blocks_, keep, tape, [](std::size_t, auto&&... arguments) { Ops::attention(arguments...); });
  forward_last(keep, tape);
  forward_final_norm(features, tape);
}

template <EncoderOps Ops>
template <typename Attend>
void VitEncoder<Ops>::forward_blocks(std::span<const PackedBlock<Ops>> blocks, bool keep, VitTape<Ops>& tape,
                                     const Attend& attend) const {
  tape.blocks.resize(keep ? blocks.size() : std::min<std::size_t>(1, blocks.size()));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    forward_block(blocks[i], keep, tape.blocks[keep ? i : 0], tape,
                  [&](auto&&... arguments) { attend(i, arguments...); });
  }
}

template <EncoderOps Ops>
template <typename Attend>
void VitEncoder<Ops>::forward_block(const PackedBlock<Ops>& block, bool keep, VitBlockTape<Ops>& saved,
                                    VitTape<Ops>& tape, const Attend& attend) const {
  const float epsilon = geometry_.layer_norm_epsilon;
  saved.inverse_std1.resize(tape.x.rows());
  saved.inverse_std2.resize(tape.x.rows());
  Ops::normalize(tape.x, epsilon, saved.normalized1, saved.inverse_std1);
  Ops::product_rows(saved.normalized1, block.qkv.forward, block.qkv.bias, saved.qkv);
  attend(saved.qkv, tape.shape, tape.packed, keep ? &saved.probabilities : nullptr);
  Ops::product_add(tape.packed, block.projection.forward, block.projection.bias, tape.x);
  Ops::normalize(tape.x, epsilon, saved.normalized2, saved.inverse_std2);
  Ops::product_gelu(saved.normalized2, block.mlp.fc1.forward, block.mlp.fc1.bias, tape.hidden,
                    keep ? &saved.gelu_derivative : nullptr);
  Ops::product_add(tape.hidden, block.mlp.fc2.forward, block.mlp.fc2.bias, tape.x);
}

template <EncoderOps Ops>
void VitEncoder<Ops>::forward_last(bool keep, VitTape<Ops>& tape) const {
  auto& saved = tape.last;
  const float epsilon = geometry_.layer_norm_epsilon;
  const std::size_t rows = tape.x.rows(), specials = tape.special_rows.size(), width = geometry_.width;
  saved.inverse_std1.resize(rows);
  saved.inverse_std2.resize(specials);
  saved.query.resize(specials, width);
  saved.key_value.resize(rows, 2 * width);
  saved.probabilities.resize(specials * geometry_.heads, tape.shape.tokens);
  tape.special.resize(specials, width);
  tape.special_wide.resize(specials, width);

  Ops::normalize(tape.x, epsilon, saved.normalized1, saved.inverse_std1);
  Ops::select_rows(saved.normalized1, tape.special_rows, tape.selected);
  Ops::product(tape.selected, last_.query.forward, last_.query.bias, saved.query);
  Ops::product(saved.normalized1, last_.key_value.forward, last_.key_value.bias, saved.key_value);
  few_query_attention(saved.query, saved.key_value, tape.shape, saved.probabilities, tape.special_wide);

  for (std::size_t r = 0; r < specials; ++r) {
    std::ranges::copy(tape.x.row(tape.special_rows[r]), tape.special.row(r).begin());
  }
  Ops::pack(tape.special_wide, tape.packed);
  Ops::product_add(tape.packed, last_.projection.forward, last_.projection.bias, tape.special);
  Ops::normalize(tape.special, epsilon, saved.normalized2, saved.inverse_std2);
  Ops::product_gelu(saved.normalized2, last_.mlp.fc1.forward, last_.mlp.fc1.bias, tape.hidden,
                    keep ? &saved.gelu_derivative : nullptr);
  Ops::product_add(tape.hidden, last_.mlp.fc2.forward, last_.mlp.fc2.bias, tape.special);
}

template <EncoderOps Ops>
void VitEncoder<Ops>::forward_final_norm(MatrixView<float> features, VitTape<Ops>& tape) const {
  auto& saved = tape.last;
  saved.final_normalized.resize(tape.special.rows(), geometry_.width);
  saved.final_inverse_std.resize(tape.special.rows());
  normalize_rows(tape.special, geometry_.layer_norm_epsilon, saved.final_normalized, saved.final_inverse_std);
  for (std::size_t r = 0; r < features.rows(); ++r) {
    for (std::size_t c = 0; c < features.cols(); ++c) {
      features(r, c) = saved.final_normalized.row(r)[c] * final_norm_.scale[c] + final_norm_.shift[c];
    }
  }
}

template <EncoderOps Ops>
void VitEncoder<Ops>::backward(MatrixView<const float> d_features, MatrixView<float> d_prompts,
                               VitTape<Ops>& tape) const {
  assert(training_ && tape.blocks.size() == blocks_.size());
  backward_final_norm(d_features, tape);
  backward_last(tape);
  backward_blocks(blocks_, d_prompts, tape,
                  [](std::size_t, auto&&... arguments) { Ops::attention_backward(arguments...); });
}

template <EncoderOps Ops>
template <typename AttendBackward>
void VitEncoder<Ops>::backward_blocks(std::span<const PackedBlock<Ops>> blocks, MatrixView<float> d_prompts,
                                      VitTape<Ops>& tape, const AttendBackward& attend_backward) const {
  for (std::size_t i = blocks.size(); i-- > 0;) {
    const auto& block = blocks[i];
    const auto& saved = tape.blocks[i];
    backward_mlp(block.mlp, saved.gelu_derivative, saved.normalized2, saved.inverse_std2, tape.x, tape);
    backward_attention(block, saved, tape, [&](auto&&... arguments) { attend_backward(i, arguments...); });
    if (i == 0) return backward_first_norm_of_prompts(block, saved, d_prompts, tape);
    backward_first_norm(block, saved, tape);
  }
  // Without blocks, as in a model whose last block is its first.
  for (std::size_t r = 0; r < tape.prompt_rows.size(); ++r) {
    std::ranges::copy(tape.x.row(tape.prompt_rows[r]), d_prompts.row(r).begin());
  }
}

template <EncoderOps Ops>
void VitEncoder<Ops>::backward_final_norm(MatrixView<const float> d_features, VitTape<Ops>& tape) const {
  auto& d = tape.special_wide;
  for (std::size_t r = 0; r < d.rows(); ++r) {
    for (std::size_t c = 0; c < d.cols(); ++c) d.row(r)[c] = d_features(r, c) * final_norm_.scale[c];
    std::ranges::fill(tape.special.row(r), 0.0f);
  }
  normalize_rows_backward(d, tape.last.final_normalized, tape.last.final_inverse_std, tape.special);
}

template <EncoderOps Ops>
void VitEncoder<Ops>::backward_last(VitTape<Ops>& tape) const {
  auto& saved = tape.last;
  const std::size_t rows = tape.shape.rows(), width = geometry_.width;
  tape.wide.resize(rows, width);
  backward_mlp(last_.mlp, saved.gelu_derivative, saved.normalized2, saved.inverse_std2, tape.special, tape);
  Ops::pack(tape.special, tape.packed);
  Ops::product(tape.packed, last_.projection.backward, {}, tape.special_wide);

  tape.d_query.resize(tape.special_rows.size(), width);
  tape.d_key_value.resize(rows, 2 * width);
  few_query_attention_backward(saved.query, saved.key_value, saved.probabilities, tape.special_wide,
                               tape.shape, tape.d_query, tape.d_key_value);
  Ops::pack(tape.d_key_value, tape.packed);
  Ops::product(tape.packed, last_.key_value.backward, {}, tape.wide);
  Ops::pack(tape.d_query, tape.packed);
  Ops::product(tape.packed, last_.query.backward, {}, tape.special_wide);

  // From here on x holds the gradient of the residual stream: so far only the special tokens have one.
  std::ranges::fill_n(tape.x.data(), static_cast<std::ptrdiff_t>(rows * width), 0.0f);
  for (std::size_t r = 0; r < tape.special_rows.size(); ++r) {
    const std::size_t row = tape.special_rows[r];
    add_scaled(1.0f, tape.special_wide.row(r), tape.wide.row(row));
    std::ranges::copy(tape.special.row(r), tape.x.row(row).begin());
  }
  Ops::normalize_backward(tape.wide, saved.normalized1, saved.inverse_std1, tape.x);
}

template <EncoderOps Ops>
void VitEncoder<Ops>::backward_mlp(const PackedMlp<Ops>& mlp, const typename Ops::Factors& gelu_derivative,
                                   const typename Ops::Operand& normalized,
                                   std::span<const float> inverse_std, Matrix<float>& d,
                                   VitTape<Ops>& tape) const {
  Ops::pack(d, tape.packed);
  Ops::product_times(tape.packed, mlp.fc2.backward, gelu_derivative, tape.hidden);
  Ops::product_normalize_backward(tape.hidden, mlp.fc1.backward, normalized, inverse_std, d);
}

template <EncoderOps Ops>
template <typename AttendBackward>
void VitEncoder<Ops>::backward_attention(const PackedBlock<Ops>& block, const VitBlockTape<Ops>& saved,
                                         VitTape<Ops>& tape, const AttendBackward& attend_backward) const {
  Ops::pack(tape.x, tape.packed);
  Ops::product_rows(tape.packed, block.projection.backward, {}, tape.d_attended);
  attend_backward(saved.qkv, saved.probabilities, tape.d_attended, tape.shape, tape.d_qkv);
}

template <EncoderOps Ops>
void VitEncoder<Ops>::backward_first_norm(const PackedBlock<Ops>& block, const VitBlockTape<Ops>& saved,
                                          VitTape<Ops>& tape) const {
  Ops::product_normalize_backward(tape.d_qkv, block.qkv.backward, saved.normalized1, saved.inverse_std1,
                                  tape.x);
}

template <EncoderOps Ops>
void VitEncoder<Ops>::backward_first_norm_of_prompts(const PackedBlock<Ops>& block,
                                                     const VitBlockTape<Ops>& saved,
                                                     MatrixView<float> d_prompts, VitTape<Ops>& tape) const {
  const auto& rows = tape.prompt_rows;
  std::vector<float> inverse_std(rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    inverse_std[r] = saved.inverse_std1[rows[r]];
    std::ranges::copy(tape.x.row(rows[r]), d_prompts.row(r).begin());
  }
  tape.d_normalized.resize(rows.size(), geometry_.width);
  Ops::select_rows(tape.d_qkv, rows, tape.selected);
  Ops::product(tape.selected, block.qkv.backward, {}, tape.d_normalized);
  Ops::select_rows(saved.normalized1, rows, tape.selected);
  Ops::normalize_backward(tape.d_normalized, tape.selected, inverse_std, d_prompts);
}

}  // namespace dfrost

// The body of ConvitEncoder<Ops>, included once per arithmetic by the file that instantiates it.
#pragma once

#include <algorithm>
#include <cassert>
#include <utility>

#include "backbone/convit_encoder.h"
#include "backbone/vit_encoder-inl.h"
#include "base/thread_pool.h"
#include "kernels/vector_ops.h"

namespace dfrost {

// The blocks behind the gated ones, as a transformer whose pictures have no patches of their own.
class PlainPartOfConvit final : public VitWeights {
 public:
  explicit PlainPartOfConvit(const ConvitWeights& whole) : whole_(whole), geometry_(whole.geometry()) {
    geometry_.depth -= whole.gated_blocks();
    geometry_.image_size = 0;
  }
  const Geometry& geometry() const override { return geometry_; }
  StemWeights read_stem() const override {
    auto stem = whole_.read_stem();
    stem.patch = {};  // the whole has it
    stem.patch_positions.clear();
    return stem;
  }
  BlockWeights read_block(std::size_t index) const override {
    return whole_.read_block(whole_.gated_blocks() + index);
  }
  NormWeights read_final_norm() const override { return whole_.read_final_norm(); }
  std::vector<LinearWeights> read_heads() const override { return {}; }

 private:
  const ConvitWeights& whole_;
  Geometry geometry_;
};

inline Packing on_shelf(Packing packing, std::string_view part) {
  packing.shelf = packing.shelf.at(part);
  return packing;
}

template <ConvitOps Ops>
ConvitEncoder<Ops>::ConvitEncoder(const ConvitWeights& source, const Packing& packing)
    : geometry_(source.geometry()),
      training_(packing.training),
      gated_(source.gated_blocks()),
      gates_(source.gated_blocks()),
      plain_(PlainPartOfConvit(source), on_shelf(packing, "tail")) {
  auto stem = source.read_stem();
  patch_ = {stem.patch, false, packing.shelf.at("patch")};
  positions_ = std::move(stem.patch_positions);
  const std::size_t grid = geometry_.image_size / geometry_.patch_size;
  const auto pack_block = [&](std::size_t i, std::size_t) {
    const auto shelf = packing.shelf.at(i);
    gated_[i] = {source.read_block(i), training_, shelf};
    const auto weights = source.read_gate(i);
    gates_[i] = typename Ops::Gates(gates_of(weights), geometry_.patches(), shelf.at("positions"));
    if (!gates_[i].is_filled()) gates_[i].fill(position_scores(weights, grid));
  };
  if (packing.threads != nullptr) {
    packing.threads->parallel_for(gated_.size(), pack_block);
  } else {
    for (std::size_t i = 0; i < gated_.size(); ++i) pack_block(i, 0);
  }
}

template <ConvitOps Ops>
std::size_t ConvitEncoder<Ops>::weight_bytes() const {
  std::size_t bytes = patch_.bytes() + plain_.weight_bytes() + positions_.size() * sizeof(float);
  for (const auto& block : gated_) bytes += block.bytes();
  for (const auto& gates : gates_) bytes += gates.bytes();
  return bytes;
}

template <ConvitOps Ops>
void ConvitEncoder<Ops>::embed(MatrixView<const float> pixels, MatrixView<float> patches) const {
  embed_patches(patch_, positions_, pixels, patches);
}

template <ConvitOps Ops>
void ConvitEncoder<Ops>::gather_tokens(const Batch& chunk, VitTape<Ops>& tape) const {
  const std::size_t patches = geometry_.patches(), prompts = chunk.prompts_per_image;
  tape.prompts = prompts;
  tape.shape = {chunk.images, prompts + patches, geometry_.heads, geometry_.head_size()};
  tape.prompt_rows.clear();
  tape.x.resize(tape.shape.rows(), geometry_.width);
  auto row = tape.x.data();
  const auto append = [&](std::span<const float> values) { row = std::ranges::copy(values, row).out; };
  for (std::size_t image = 0; image < chunk.images; ++image) {
    for (std::size_t p = 0; p < prompts; ++p) {
      tape.prompt_rows.push_back(image * tape.shape.tokens + p);
      append(chunk.prompts.row(chunk.shares_prompts() ? p : image * prompts + p));
    }
    for (std::size_t p = 0; p < patches; ++p) append(chunk.patches.row(image * patches + p));
  }
}

template <ConvitOps Ops>
void ConvitEncoder<Ops>::forward(const Batch& chunk, MatrixView<float> features, bool keep,
                                 Tape& tape) const {
  auto& gated = tape.gated;
  gather_tokens(chunk, gated);
  plain_.forward_blocks(gated_, keep, gated,
                        [&](std::size_t block, const auto& qkv, const auto& shape, auto& out, auto* kept) {
                          Ops::gated_attention(qkv, gates_[block], shape, out, kept);
                        });
  plain_.forward({chunk.images, gated.shape.tokens, {}, gated.x}, features, keep, tape.plain);
}

template <ConvitOps Ops>
void ConvitEncoder<Ops>::backward(MatrixView<const float> d_features, MatrixView<float> d_prompts,
                                  Tape& tape) const {
  assert(training_ && tape.gated.blocks.size() == gated_.size());
  auto& gated = tape.gated;
  plain_.backward(d_features, gated.x, tape.plain);
  plain_.backward_blocks(
      gated_, d_prompts, gated,
      [&](std::size_t block, const auto& qkv, const auto& saved, const auto& d_out, const auto& shape,
          auto& d_qkv) { Ops::gated_attention_backward(qkv, gates_[block], saved, d_out, shape, d_qkv); });
}

}  // namespace dfrost

// The encoder of a ConViT over a chunk of images, forward and backward to the prompts, in fp32. The gated
// blocks are here. Behind them the class token joins, and what follows is a plain transformer, to which all
// tokens that come are prompts: VitEncoder takes them, with all its savings, and gives back their gradient.
#include <algorithm>
#include <cassert>

#include "backbone/chunked_backbone.h"
#include "backbone/convit.h"
#include "backbone/gated_attention.h"
#include "backbone/vit_encoder-inl.h"
#include "kernels/fp32_ops.h"

namespace dfrost {
namespace {

// The blocks behind the gated ones, as a transformer whose pictures have no patches of their own.
class TailWeights final : public VitWeights {
 public:
  explicit TailWeights(const ConvitWeights& whole) : whole_(whole), geometry_(whole.geometry()) {
    geometry_.depth -= whole.gated_blocks();
    geometry_.image_size = 0;
  }
  const Geometry& geometry() const override { return geometry_; }
  StemWeights read_stem() const override {
    auto stem = whole_.read_stem();
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

struct GatedBlockTape {
  Matrix<float> normalized1, normalized2, qkv, content, gelu_derivative;
  std::vector<float> inverse_std1, inverse_std2;
};

struct ConvitTape {
  AttentionShape shape;  // of the gated blocks
  std::size_t prompts = 0;
  std::vector<GatedBlockTape> blocks;  // just one, used again and again, if nothing is kept
  VitTape<Fp32Ops> tail;
  Matrix<float> x;  // the residual stream [images·tokens, width]; on the way back its gradient
  Matrix<float> attended, d_qkv, hidden, wide;
};

class ConvitEncoder {
 public:
  using Tape = ConvitTape;
  using Ops = Fp32Ops;

  ConvitEncoder(const ConvitWeights& source, const Packing& packing)
      : geometry_(source.geometry()),
        training_(packing.training),
        blocks_(source.gated_blocks()),
        gates_(source.gated_blocks()),
        tail_(TailWeights(source), on_shelf(packing, "tail")) {
    const auto stem = source.read_stem();
    patch_ = {stem.patch, false, packing.shelf.at("patch")};
    positions_ = stem.patch_positions;
    const auto pack = [&](std::size_t i, std::size_t) {
      blocks_[i] = {source.read_block(i), training_, packing.shelf.at(i)};
      gates_[i] = {source.read_gate(i), geometry_.image_size / geometry_.patch_size};
    };
    if (packing.threads != nullptr) {
      packing.threads->parallel_for(blocks_.size(), pack);
    } else {
      for (std::size_t i = 0; i < blocks_.size(); ++i) pack(i, 0);
    }
  }

  const Geometry& geometry() const { return geometry_; }
  bool training() const { return training_; }
  std::size_t weight_bytes() const {
    std::size_t bytes = patch_.bytes() + tail_.weight_bytes() + positions_.size() * sizeof(float);
    for (const auto& block : blocks_) bytes += block.bytes();
    for (const auto& gate : gates_) bytes += gate.scores.size() * sizeof(float);
    return bytes;
  }

  void embed(MatrixView<const float> pixels, MatrixView<float> patches) const {
    thread_local Matrix<float> packed;
    Ops::pack(pixels, packed);
    Ops::product(packed, patch_.forward, patch_.bias, patches);
    for (std::size_t r = 0; r < patches.rows(); ++r) {
      const std::size_t patch = r % geometry_.patches();
      add_scaled(1.0f, std::span(positions_).subspan(patch * geometry_.width, geometry_.width),
                 patches.row(r));
    }
  }

  void forward(const Batch& chunk, MatrixView<float> features, bool keep, ConvitTape& tape) const {
    tape.prompts = chunk.prompts_per_image;
    tape.shape = {chunk.images, tape.prompts + geometry_.patches(), geometry_.heads, geometry_.head_size()};
    tape.blocks.resize(keep ? blocks_.size() : std::min<std::size_t>(1, blocks_.size()));
    gather(chunk, tape);
    for (std::size_t i = 0; i < blocks_.size(); ++i) forward_block(i, tape.blocks[keep ? i : 0], tape);
    tail_.forward({chunk.images, tape.shape.tokens, {}, tape.x}, features, keep, tape.tail);
  }

  void backward(MatrixView<const float> d_features, MatrixView<float> d_prompts, ConvitTape& tape) const {
    assert(training_ && tape.blocks.size() == blocks_.size());
    tail_.backward(d_features, tape.x, tape.tail);
    for (std::size_t i = blocks_.size(); i-- > 0;) {
      backward_to_qkv(i, tape.blocks[i], tape);
      if (i == 0) return backward_to_prompts(tape.blocks[i], d_prompts, tape);
      Ops::product(tape.d_qkv, blocks_[i].qkv.backward, {}, tape.wide);
      Ops::normalize_backward(tape.wide, tape.blocks[i].normalized1, tape.blocks[i].inverse_std1, tape.x);
    }
  }

 private:
  static Packing on_shelf(Packing packing, std::string_view part) {
    packing.shelf = packing.shelf.at(part);
    return packing;
  }

  void gather(const Batch& chunk, ConvitTape& tape) const {
    const std::size_t patches = geometry_.patches();
    tape.x.resize(tape.shape.rows(), geometry_.width);
    std::size_t row = 0;
    const auto append = [&](std::span<const float> token) {
      std::ranges::copy(token, tape.x.row(row++).begin());
    };
    for (std::size_t image = 0; image < chunk.images; ++image) {
      for (std::size_t p = 0; p < tape.prompts; ++p)
        append(chunk.prompts.row(chunk.shares_prompts() ? p : image * tape.prompts + p));
      for (std::size_t p = 0; p < patches; ++p) append(chunk.patches.row(image * patches + p));
    }
  }

  void forward_block(std::size_t i, GatedBlockTape& saved, ConvitTape& tape) const {
    const auto& block = blocks_[i];
    const float epsilon = geometry_.layer_norm_epsilon;
    saved.inverse_std1.resize(tape.x.rows());
    saved.inverse_std2.resize(tape.x.rows());
    tape.attended.resize(tape.x.rows(), geometry_.width);
    Ops::normalize(tape.x, epsilon, saved.normalized1, saved.inverse_std1);
    Ops::product_rows(saved.normalized1, block.qkv.forward, block.qkv.bias, saved.qkv);
    gated_attention(saved.qkv, gates_[i], tape.shape, saved.content, tape.attended);
    Ops::product_add(tape.attended, block.projection.forward, block.projection.bias, tape.x);
    Ops::normalize(tape.x, epsilon, saved.normalized2, saved.inverse_std2);
    Ops::product_gelu(saved.normalized2, block.mlp.fc1.forward, block.mlp.fc1.bias, tape.hidden,
                      &saved.gelu_derivative);
    Ops::product_add(tape.hidden, block.mlp.fc2.forward, block.mlp.fc2.bias, tape.x);
  }

  // x holds the gradient of the block's result, and then of its input, but for what goes through d_qkv.
  void backward_to_qkv(std::size_t i, const GatedBlockTape& saved, ConvitTape& tape) const {
    const auto& block = blocks_[i];
    tape.wide.resize(tape.x.rows(), geometry_.width);
    tape.d_qkv.resize(tape.x.rows(), 3 * geometry_.width);
    Ops::product_times(tape.x, block.mlp.fc2.backward, saved.gelu_derivative, tape.hidden);
    Ops::product(tape.hidden, block.mlp.fc1.backward, {}, tape.wide);
    Ops::normalize_backward(tape.wide, saved.normalized2, saved.inverse_std2, tape.x);
    Ops::product_rows(tape.x, block.projection.backward, {}, tape.attended);
    gated_attention_backward(saved.qkv, gates_[i], saved.content, tape.attended, tape.shape, tape.d_qkv);
  }

  // The first block's: nobody asks for the gradient of its patches.
  void backward_to_prompts(const GatedBlockTape& saved, MatrixView<float> d_prompts, ConvitTape& tape) const {
    std::vector<std::size_t> rows(d_prompts.rows());
    std::vector<float> inverse_std(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      rows[r] = r / tape.prompts * tape.shape.tokens + r % tape.prompts;
      inverse_std[r] = saved.inverse_std1[rows[r]];
      std::ranges::copy(tape.x.row(rows[r]), d_prompts.row(r).begin());
    }
    tape.wide.resize(rows.size(), geometry_.width);
    Ops::select_rows(tape.d_qkv, rows, tape.hidden);
    Ops::product(tape.hidden, blocks_.front().qkv.backward, {}, tape.wide);
    Ops::select_rows(saved.normalized1, rows, tape.hidden);
    Ops::normalize_backward(tape.wide, tape.hidden, inverse_std, d_prompts);
  }

  Geometry geometry_;
  bool training_ = false;
  PackedLinear<Ops> patch_;
  std::vector<float> positions_;  // of patches
  std::vector<PackedBlock<Ops>> blocks_;
  std::vector<PositionGates> gates_;
  VitEncoder<Ops> tail_;
};

}  // namespace

std::unique_ptr<Backbone> make_convit_fp32(const ConvitWeights& weights, const Packing& packing) {
  return std::make_unique<ChunkedBackbone<ConvitEncoder>>(ConvitEncoder(weights, packing),
                                                          weights.read_heads(), Precision::fp32);
}

}  // namespace dfrost

// The encoder of a ConViT over a chunk of images, forward and backward to the prompts, over one arithmetic:
// Fp32Ops or Bf16Ops. The gated blocks are those of a plain transformer, gated attention in the place of
// attention, over prompts and patches alone. Behind them the class token joins, and what follows is a plain
// transformer, to which all tokens that come are prompts: VitEncoder takes them, with all its savings, and
// gives back their gradient. Runs on the calling thread.
#pragma once

#include <string_view>
#include <vector>

#include "backbone/convit_weights.h"
#include "backbone/packed_weights.h"
#include "backbone/vit_encoder.h"
#include "backbone/vit_weights.h"
#include "dfrost/backbone.h"
#include "kernels/encoder_ops.h"

namespace dfrost {

template <typename Ops>
concept ConvitOps = EncoderOps<Ops> && GatedAttentionOps<Ops>;

template <ConvitOps Ops>
struct ConvitTape {
  VitTape<Ops> gated;  // the gated blocks'
  VitTape<Ops> plain;  // of what follows
};

template <ConvitOps Ops>
class ConvitEncoder {
 public:
  using Tape = ConvitTape<Ops>;

  ConvitEncoder(const ConvitWeights& source, const Packing& packing);

  const Geometry& geometry() const { return geometry_; }
  bool training() const { return training_; }
  std::size_t weight_bytes() const;

  // See ChunkEncoder.
  void embed(MatrixView<const float> pixels, MatrixView<float> patches) const;
  void forward(const Batch& chunk, MatrixView<float> features, bool keep, Tape& tape) const;
  void backward(MatrixView<const float> d_features, MatrixView<float> d_prompts, Tape& tape) const;

 private:
  void gather_tokens(const Batch& chunk, VitTape<Ops>& tape) const;

  Geometry geometry_;
  bool training_ = false;
  PackedLinear<Ops> patch_;
  std::vector<float> positions_;         // of patches
  std::vector<PackedBlock<Ops>> gated_;  // blocks
  std::vector<typename Ops::Gates> gates_;
  VitEncoder<Ops> plain_;
};

}  // namespace dfrost

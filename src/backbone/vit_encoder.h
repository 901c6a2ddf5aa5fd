// The plain transformer encoder over a chunk of images, forward and backward to the prompts, written by hand
// for this one architecture (pre-norm blocks, exact GELU) and over one arithmetic, `Ops`: Fp32Ops or Bf16Ops.
// Exact savings: no weight gradients; the last block runs for the special tokens alone; the first block's
// input gradient is taken for the prompt tokens alone. Runs on the calling thread.
#pragma once

#include <span>
#include <vector>

#include "backbone/packed_weights.h"
#include "backbone/vit_weights.h"
#include "dfrost/backbone.h"
#include "kernels/attention.h"
#include "kernels/buffer.h"
#include "kernels/encoder_ops.h"

namespace dfrost {

// What one block's forward pass leaves for its backward pass.
template <EncoderOps Ops>
struct VitBlockTape {
  typename Ops::Operand normalized1, normalized2;
  std::vector<float> inverse_std1, inverse_std2;
  typename Ops::Rows qkv;
  typename Ops::Probabilities probabilities;
  typename Ops::Factors gelu_derivative;
};

template <EncoderOps Ops>
struct VitLastBlockTape {
  typename Ops::Operand normalized1, normalized2;
  std::vector<float> inverse_std1, inverse_std2;
  Matrix<float> query, key_value, probabilities;
  typename Ops::Factors gelu_derivative;
  Matrix<float> final_normalized;
  std::vector<float> final_inverse_std;
};

// One chunk under way: its shape, what is saved, and room to work in.
template <EncoderOps Ops>
struct VitTape {
  AttentionShape shape;
  std::size_t prompts = 0;
  std::vector<std::size_t> special_rows, prompt_rows;
  std::vector<VitBlockTape<Ops>>
      blocks;  // all but the last; just one, used again and again, if nothing is kept
  VitLastBlockTape<Ops> last;

  Matrix<float> x;        // the residual stream [images·tokens, width]; on the way back its gradient
  Matrix<float> special;  // the same for the special tokens of the last block [images·special_tokens, width]
  Matrix<float> wide, special_wide, d_query, d_key_value, d_normalized;
  typename Ops::Operand packed, hidden, d_qkv, selected;
  typename Ops::Rows d_attended;

  void lay_out(const Geometry& geometry, std::size_t images, std::size_t prompt_count);
};

template <EncoderOps Ops>
class VitEncoder {
 public:
  using Tape = VitTape<Ops>;

  VitEncoder(const VitWeights& source, const Packing& packing);

  const Geometry& geometry() const { return geometry_; }
  bool training() const { return training_; }
  std::size_t weight_bytes() const;

  // See ChunkEncoder.
  void embed(MatrixView<const float> pixels, MatrixView<float> patches) const;
  void forward(const Batch& chunk, MatrixView<float> features, bool keep, VitTape<Ops>& tape) const;
  // d_prompts [images·prompts, width], one gradient per image even where the prompts are shared.
  void backward(MatrixView<const float> d_features, MatrixView<float> d_prompts, VitTape<Ops>& tape) const;

  // Blocks one after another over the tokens in tape.x, and from the gradient in tape.x back to the prompts',
  // for encoders that have blocks which attend in another way: attend(index, …) takes the place of
  // Ops::attention(…), attend_backward(index, …) that of Ops::attention_backward(…).
  template <typename Attend>
  void forward_blocks(std::span<const PackedBlock<Ops>> blocks, bool keep, VitTape<Ops>& tape,
                      const Attend& attend) const;
  template <typename AttendBackward>
  void backward_blocks(std::span<const PackedBlock<Ops>> blocks, MatrixView<float> d_prompts,
                       VitTape<Ops>& tape, const AttendBackward& attend_backward) const;

 private:
  void gather_tokens(const Batch& chunk, VitTape<Ops>& tape) const;
  template <typename Attend>
  void forward_block(const PackedBlock<Ops>& block, bool keep, VitBlockTape<Ops>& saved, VitTape<Ops>& tape,
                     const Attend& attend) const;
  void forward_last(bool keep, VitTape<Ops>& tape) const;
  void forward_final_norm(MatrixView<float> features, VitTape<Ops>& tape) const;
  void backward_final_norm(MatrixView<const float> d_features, VitTape<Ops>& tape) const;
  void backward_last(VitTape<Ops>& tape) const;
  // The first half of a block's backward pass, from its end to before its MLP; d is taken and given back.
  void backward_mlp(const PackedMlp<Ops>& mlp, const typename Ops::Factors& gelu_derivative,
                    const typename Ops::Operand& normalized, std::span<const float> inverse_std,
                    Matrix<float>& d, VitTape<Ops>& tape) const;
  // The second half up to the gradient of queries, keys and values, in tape.d_qkv.
  template <typename AttendBackward>
  void backward_attention(const PackedBlock<Ops>& block, const VitBlockTape<Ops>& saved, VitTape<Ops>& tape,
                          const AttendBackward& attend_backward) const;
  void backward_first_norm(const PackedBlock<Ops>& block, const VitBlockTape<Ops>& saved,
                           VitTape<Ops>& tape) const;
  void backward_first_norm_of_prompts(const PackedBlock<Ops>& block, const VitBlockTape<Ops>& saved,
                                      MatrixView<float> d_prompts, VitTape<Ops>& tape) const;

  Geometry geometry_;
  bool training_ = false;
  PackedLinear<Ops> patch_;
  std::vector<float> special_tokens_;
  std::vector<float> patch_positions_;
  std::vector<PackedBlock<Ops>> blocks_;  // all but the last
  PackedLastBlock<Ops> last_;
  NormWeights final_norm_;
};

}  // namespace dfrost

// The encoder's arithmetic in bf16 on AMX tiles: matrix products and attention multiply bf16 numbers and sum
// them in fp32; LayerNorm, softmax, GELU and the residual stream are fp32. What each member computes is said
// in encoder_ops.h. Products and attention need bf16_usable().
#pragma once

#include <cstddef>
#include <span>

#include "dfrost/matrix_view.h"
#include "kernels/attention.h"
#include "kernels/bf16_matrix.h"
#include "kernels/buffer.h"
#include "kernels/encoder_ops.h"
#include "kernels/position_gates.h"
#include "kernels/weight_shelf.h"

namespace dfrost {

struct Bf16Ops {
  using Operand = TiledMatrix;
  using Rows = RowMatrix;
  using Factors = TiledMatrix;
  // [images·heads] square matrices of tiles, padded to 32 rows and columns.
  using Probabilities = AlignedBuffer<Bf16>;
  using Gates = PositionGates<Bf16, kTileDepth>;

  class Weights {
   public:
    Weights() = default;
    explicit Weights(MatrixView<const float> matrix);
    Weights(std::size_t outputs, std::size_t inputs, const WeightShelf& shelf);
    std::size_t outputs() const { return panels_.cols(); }
    std::size_t inputs() const { return panels_.depth(); }
    std::size_t bytes() const { return panels_.bytes(); }
    bool is_filled() const { return is_filled_; }
    void fill(MatrixView<const float> matrix);
    const PanelMatrix& panels() const { return panels_; }

   private:
    PanelMatrix panels_;
    bool is_filled_ = false;
  };

  // What kernels/encoder_ops.h asks for, by the files that have it: bf16_attention.cc,
  static void attention(const Rows& qkv, const AttentionShape& shape, Operand& out, Probabilities* saved);
  static void attention_backward(const Rows& qkv, const Probabilities& saved, const Rows& d_out,
                                 const AttentionShape& shape, Operand& d_qkv);
  static void gated_attention(const Rows& qkv, const Gates& gates, const AttentionShape& shape, Operand& out,
                              Probabilities* saved);
  static void gated_attention_backward(const Rows& qkv, const Gates& gates, const Probabilities& saved,
                                       const Rows& d_out, const AttentionShape& shape, Operand& d_qkv);
  // bf16_rows.cc,
  static void pack(MatrixView<const float> x, Operand& out);
  static void select_rows(const Operand& in, std::span<const std::size_t> rows, Operand& out);
  static void normalize(MatrixView<const float> x, float epsilon, Operand& out, std::span<float> inverse_std);
  static void normalize_backward(MatrixView<const float> d, const Operand& normalized,
                                 std::span<const float> inverse_std, MatrixView<float> dx);
  // and bf16_gemm.h with what is done to a block while it is in cache.
  static void product_times(const Operand& a, const Weights& w, const Factors& factors, Operand& out);
  static void product_gelu(const Operand& a, const Weights& w, std::span<const float> bias, Operand& out,
                           Factors* derivative);
  static void product_normalize_backward(const Operand& a, const Weights& w, const Operand& normalized,
                                         std::span<const float> inverse_std, MatrixView<float> dx);
  static void product_rows(const Operand& a, const Weights& w, std::span<const float> bias, Rows& out);
  static void product(const Operand& a, const Weights& w, std::span<const float> bias, MatrixView<float> out);
  static void product_add(const Operand& a, const Weights& w, std::span<const float> bias,
                          MatrixView<float> out);
};
static_assert(EncoderOps<Bf16Ops> && GatedAttentionOps<Bf16Ops>);

}  // namespace dfrost

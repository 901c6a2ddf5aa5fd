// The encoder's arithmetic in bf16 on AMX tiles: matrix products and attention multiply bf16 numbers and sum
// them in fp32; LayerNorm, softmax, GELU and the residual stream are fp32. The twin of Fp32Ops, member by
// member. Every call runs on the calling thread alone and a row's (an image's, in attention) result does not
// depend on what else is in the matrix. Const objects may be shared. Products and attention need
// amx_bf16_usable().
#pragma once

#include <cstddef>
#include <span>

#include "dfrost/matrix_view.h"
#include "kernels/attention.h"
#include "kernels/bf16_matrix.h"
#include "kernels/buffer.h"

namespace dfrost {

struct Bf16Ops {
  using Operand = TiledMatrix;
  using Rows = RowMatrix;
  using Factors = TiledMatrix;
  // [images·heads] square matrices of tiles, padded to 32 rows and columns.
  using Probabilities = AlignedBuffer<Bf16>;

  // A frozen matrix [outputs, inputs], packed so that products compute a·matrixᵀ.
  class Weights {
   public:
    Weights() = default;
    explicit Weights(MatrixView<const float> matrix);
    std::size_t outputs() const { return panels_.cols(); }
    std::size_t inputs() const { return panels_.depth(); }
    std::size_t bytes() const { return panels_.bytes(); }
    const PanelMatrix& panels() const { return panels_; }

   private:
    PanelMatrix panels_;
  };

  static void normalize(MatrixView<const float> x, float epsilon, Operand& out, std::span<float> inverse_std);
  static void normalize_backward(MatrixView<const float> d, const Operand& normalized,
                                 std::span<const float> inverse_std, MatrixView<float> dx);
  static void pack(MatrixView<const float> x, Operand& out);
  // out's row i is in's row rows[i].
  static void select_rows(const Operand& in, std::span<const std::size_t> rows, Operand& out);

  // out = a·Wᵀ + bias, or out += … ; bias empty or [outputs].
  static void product(const Operand& a, const Weights& w, std::span<const float> bias, MatrixView<float> out);
  static void product_add(const Operand& a, const Weights& w, std::span<const float> bias,
                          MatrixView<float> out);
  static void product_rows(const Operand& a, const Weights& w, std::span<const float> bias, Rows& out);
  // h = a·Wᵀ + bias; out = gelu(h); *derivative = gelu'(h) where it is not null.
  static void product_gelu(const Operand& a, const Weights& w, std::span<const float> bias, Operand& out,
                           Factors* derivative);
  // out = (a·Wᵀ) ∘ factors.
  static void product_times(const Operand& a, const Weights& w, const Factors& factors, Operand& out);

  // qkv [rows, 3·width]: queries, keys, values; out [rows, width].
  static void attention(const Rows& qkv, const AttentionShape& shape, Operand& out, Probabilities* saved);
  static void attention_backward(const Rows& qkv, const Probabilities& saved, const Rows& d_out,
                                 const AttentionShape& shape, Operand& d_qkv);
};

}  // namespace dfrost

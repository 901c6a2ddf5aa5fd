// The encoder's arithmetic in fp32: matrix products by oneDNN over weights packed once, the rest by
// vector_ops. What each member computes is said in encoder_ops.h.
#pragma once

#include <memory>
#include <span>

#include "dfrost/matrix_view.h"
#include "kernels/attention.h"
#include "kernels/buffer.h"
#include "kernels/encoder_ops.h"
#include "kernels/position_gates.h"
#include "kernels/weight_shelf.h"

namespace dfrost {

struct Fp32Ops {
  // In fp32 all of them are plain row-major matrices; the names say what each is for.
  using Operand = Matrix<float>;
  using Rows = Matrix<float>;
  using Factors = Matrix<float>;
  using Probabilities = Matrix<float>;  // [images·heads·tokens, tokens]; of gated attention by content alone
  using Gates = PositionGates<float, 0>;

  class Weights {
   public:
    Weights();
    explicit Weights(MatrixView<const float> matrix);
    Weights(std::size_t outputs, std::size_t inputs, const WeightShelf& shelf);
    ~Weights();
    Weights(Weights&&) noexcept;
    Weights& operator=(Weights&&) noexcept;
    std::size_t outputs() const { return outputs_; }
    std::size_t inputs() const { return inputs_; }
    std::size_t bytes() const;
    bool is_filled() const;
    void fill(MatrixView<const float> matrix);

    // Error (resource_exhausted) where oneDNN finds no memory, here as when one is made.
    // out = a·matrixᵀ + bias, or out += … ; a [rows, inputs], out [rows, outputs], bias empty or [outputs].
    void multiply(MatrixView<const float> a, std::span<const float> bias, bool accumulate,
                  MatrixView<float> out) const;

   private:
    void lay_out(const WeightShelf& shelf);
    void pack(MatrixView<const float> matrix);
    void multiply_some(MatrixView<const float> a, std::span<const float> bias, bool accumulate,
                       MatrixView<float> out) const;  // at least one row

    struct Packed;
    std::unique_ptr<Packed> packed_;
    std::size_t outputs_ = 0;
    std::size_t inputs_ = 0;
  };

  static void normalize(MatrixView<const float> x, float epsilon, Operand& out, std::span<float> inverse_std);
  static void normalize_backward(MatrixView<const float> d, const Operand& normalized,
                                 std::span<const float> inverse_std, MatrixView<float> dx);
  static void pack(MatrixView<const float> x, Operand& out);
  static void select_rows(const Operand& in, std::span<const std::size_t> rows, Operand& out);

  static void product(const Operand& a, const Weights& w, std::span<const float> bias, MatrixView<float> out);
  static void product_add(const Operand& a, const Weights& w, std::span<const float> bias,
                          MatrixView<float> out);
  static void product_normalize_backward(const Operand& a, const Weights& w, const Operand& normalized,
                                         std::span<const float> inverse_std, MatrixView<float> dx);
  static void product_rows(const Operand& a, const Weights& w, std::span<const float> bias, Rows& out);
  static void product_gelu(const Operand& a, const Weights& w, std::span<const float> bias, Operand& out,
                           Factors* derivative);
  static void product_times(const Operand& a, const Weights& w, const Factors& factors, Operand& out);

  static void attention(const Rows& qkv, const AttentionShape& shape, Operand& out, Probabilities* saved);
  static void attention_backward(const Rows& qkv, const Probabilities& saved, const Rows& d_out,
                                 const AttentionShape& shape, Operand& d_qkv);
  static void gated_attention(const Rows& qkv, const Gates& gates, const AttentionShape& shape, Operand& out,
                              Probabilities* saved);
  static void gated_attention_backward(const Rows& qkv, const Gates& gates, const Probabilities& saved,
                                       const Rows& d_out, const AttentionShape& shape, Operand& d_qkv);
};
static_assert(EncoderOps<Fp32Ops> && GatedAttentionOps<Fp32Ops>);

}  // namespace dfrost

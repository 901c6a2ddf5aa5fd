// The encoder's arithmetic in fp32: matrix products by oneDNN over weights packed once, the rest by
// vector_ops. Bf16Ops has the same members over AMX tiles; the encoder is written once, over either. Every
// call runs on the calling thread alone; parallelism is over images, outside. Const objects may be shared.
#pragma once

#include <memory>
#include <span>

#include "dfrost/matrix_view.h"
#include "kernels/attention.h"
#include "kernels/buffer.h"

namespace dfrost {

struct Fp32Ops {
  // Activations [rows, cols] as the left side of a product, and the other stored forms. In fp32 all of them
  // are plain row-major matrices; the names say what each is for.
  using Operand = Matrix<float>;
  using Rows = Matrix<float>;
  using Factors = Matrix<float>;
  using Probabilities = Matrix<float>;  // [images·heads·tokens, tokens]

  // A frozen matrix [outputs, inputs], packed so that products compute a·matrixᵀ.
  class Weights {
   public:
    Weights();
    explicit Weights(MatrixView<const float> matrix);
    ~Weights();
    Weights(Weights&&) noexcept;
    Weights& operator=(Weights&&) noexcept;
    std::size_t outputs() const { return outputs_; }
    std::size_t inputs() const { return inputs_; }
    std::size_t bytes() const;

    // out = a·matrixᵀ + bias, or out += … ; a [rows, inputs], out [rows, outputs], bias empty or [outputs].
    void multiply(MatrixView<const float> a, std::span<const float> bias, bool accumulate,
                  MatrixView<float> out) const;

   private:
    struct Packed;
    std::unique_ptr<Packed> packed_;
    std::size_t outputs_ = 0;
    std::size_t inputs_ = 0;
  };

  static void normalize(MatrixView<const float> x, float epsilon, Operand& out, std::span<float> inverse_std);
  static void normalize_backward(MatrixView<const float> d, const Operand& normalized,
                                 std::span<const float> inverse_std, MatrixView<float> dx);
  static void pack(MatrixView<const float> x, Operand& out);
  // out's row i is in's row rows[i].
  static void select_rows(const Operand& in, std::span<const std::size_t> rows, Operand& out);

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

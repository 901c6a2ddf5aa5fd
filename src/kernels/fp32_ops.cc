#include "kernels/fp32_ops.h"

#include <algorithm>

#include "kernels/gated_rows.h"
#include "kernels/small_product.h"
#include "kernels/vector_ops.h"

namespace dfrost {
namespace {

// One head of one image inside a wide row-major matrix.
template <typename T>
MatrixView<T> head_view(MatrixView<T> all, const AttentionShape& shape, std::size_t image,
                        std::size_t column) {
  return {all.data() + image * shape.tokens * all.stride() + column, shape.tokens, shape.head_size,
          all.stride()};
}

MatrixView<float> head_probabilities(Fp32Ops::Probabilities& all, const AttentionShape& shape,
                                     std::size_t index) {
  return all.view().rows_from(index * shape.tokens, shape.tokens);
}

// Queries, keys and values of one head of one image.
struct HeadInputs {
  MatrixView<const float> q, k, v;
};
HeadInputs head_inputs(const Fp32Ops::Rows& qkv, const AttentionShape& shape, std::size_t image,
                       std::size_t column) {
  const std::size_t width = shape.width();
  return {head_view(qkv.view(), shape, image, column), head_view(qkv.view(), shape, image, width + column),
          head_view(qkv.view(), shape, image, 2 * width + column)};
}

// What a head attends by: its probabilities, or what gates make of them.
MatrixView<const float> attended_by(MatrixView<const float> probabilities, const Fp32Ops::Gates* gates,
                                    std::size_t head) {
  if (gates == nullptr) return probabilities;
  thread_local Matrix<float> mixed;
  mixed.resize(probabilities.rows(), probabilities.cols());
  mix_in_positions(probabilities, *gates, head, mixed);
  return mixed;
}

// With gates, or with none.
void attend(const Fp32Ops::Rows& qkv, const Fp32Ops::Gates* gates, const AttentionShape& shape,
            Fp32Ops::Operand& out, Fp32Ops::Probabilities* saved) {
  const std::size_t width = shape.width();
  out.resize(shape.rows(), width);
  thread_local Fp32Ops::Probabilities scratch;
  Fp32Ops::Probabilities& p = saved != nullptr ? *saved : scratch;
  // Without somebody to keep them, one head's probabilities are overwritten by the next.
  p.resize((saved != nullptr ? shape.images * shape.heads : 1) * shape.tokens, shape.tokens);
  for (std::size_t image = 0; image < shape.images; ++image) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const std::size_t column = head * shape.head_size;
      const auto [q, k, v] = head_inputs(qkv, shape, image, column);
      const auto scores = head_probabilities(p, shape, saved != nullptr ? image * shape.heads + head : 0);
      small_product(Transpose::no, Transpose::yes, q, k, scores);
      softmax_rows(scores, shape.scale());
      small_product(Transpose::no, Transpose::no, attended_by(scores, gates, head), v,
                    head_view(out.view(), shape, image, column));
    }
  }
}

void attend_backward(const Fp32Ops::Rows& qkv, const Fp32Ops::Gates* gates,
                     const Fp32Ops::Probabilities& saved, const Fp32Ops::Rows& d_out,
                     const AttentionShape& shape, Fp32Ops::Operand& d_qkv) {
  const std::size_t width = shape.width();
  d_qkv.resize(shape.rows(), 3 * width);
  thread_local Matrix<float> d_scores;
  d_scores.resize(shape.tokens, shape.tokens);
  for (std::size_t image = 0; image < shape.images; ++image) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const std::size_t column = head * shape.head_size;
      const auto [q, k, v] = head_inputs(qkv, shape, image, column);
      const auto d = head_view(d_out.view(), shape, image, column);
      const auto p = saved.view().rows_from((image * shape.heads + head) * shape.tokens, shape.tokens);
      small_product(Transpose::yes, Transpose::no, attended_by(p, gates, head), d,
                    head_view(d_qkv.view(), shape, image, 2 * width + column));
      small_product(Transpose::no, Transpose::yes, d, v, d_scores);
      if (gates != nullptr) through_gate(*gates, head, d_scores);
      softmax_rows_backward(p, shape.scale(), d_scores);
      small_product(Transpose::no, Transpose::no, d_scores, k, head_view(d_qkv.view(), shape, image, column));
      small_product(Transpose::yes, Transpose::no, d_scores, q,
                    head_view(d_qkv.view(), shape, image, width + column));
    }
  }
}

}  // namespace

void Fp32Ops::normalize(MatrixView<const float> x, float epsilon, Operand& out,
                        std::span<float> inverse_std) {
  out.resize(x.rows(), x.cols());
  normalize_rows(x, epsilon, out, inverse_std);
}

void Fp32Ops::normalize_backward(MatrixView<const float> d, const Operand& normalized,
                                 std::span<const float> inverse_std, MatrixView<float> dx) {
  normalize_rows_backward(d, normalized, inverse_std, dx);
}

void Fp32Ops::pack(MatrixView<const float> x, Operand& out) {
  out.resize(x.rows(), x.cols());
  for (std::size_t r = 0; r < x.rows(); ++r) std::ranges::copy(x.row(r), out.row(r).begin());
}

void Fp32Ops::select_rows(const Operand& in, std::span<const std::size_t> rows, Operand& out) {
  out.resize(rows.size(), in.cols());
  for (std::size_t r = 0; r < rows.size(); ++r) std::ranges::copy(in.row(rows[r]), out.row(r).begin());
}

void Fp32Ops::product(const Operand& a, const Weights& w, std::span<const float> bias,
                      MatrixView<float> out) {
  w.multiply(a, bias, false, out);
}

void Fp32Ops::product_add(const Operand& a, const Weights& w, std::span<const float> bias,
                          MatrixView<float> out) {
  w.multiply(a, bias, true, out);
}

void Fp32Ops::product_normalize_backward(const Operand& a, const Weights& w, const Operand& normalized,
                                         std::span<const float> inverse_std, MatrixView<float> dx) {
  thread_local Matrix<float> d;
  d.resize(dx.rows(), dx.cols());
  product(a, w, {}, d);
  normalize_backward(d, normalized, inverse_std, dx);
}

void Fp32Ops::product_rows(const Operand& a, const Weights& w, std::span<const float> bias, Rows& out) {
  out.resize(a.rows(), w.outputs());
  w.multiply(a, bias, false, out);
}

void Fp32Ops::product_gelu(const Operand& a, const Weights& w, std::span<const float> bias, Operand& out,
                           Factors* derivative) {
  out.resize(a.rows(), w.outputs());
  w.multiply(a, bias, false, out);
  if (derivative == nullptr) return gelu_rows(out, nullptr);
  derivative->resize(out.rows(), out.cols());
  MatrixView<float> slope = derivative->view();
  gelu_rows(out, &slope);
}

void Fp32Ops::product_times(const Operand& a, const Weights& w, const Factors& factors, Operand& out) {
  out.resize(a.rows(), w.outputs());
  w.multiply(a, {}, false, out);
  multiply_rows(factors, out);
}

void Fp32Ops::attention(const Rows& qkv, const AttentionShape& shape, Operand& out, Probabilities* saved) {
  attend(qkv, nullptr, shape, out, saved);
}

void Fp32Ops::attention_backward(const Rows& qkv, const Probabilities& saved, const Rows& d_out,
                                 const AttentionShape& shape, Operand& d_qkv) {
  attend_backward(qkv, nullptr, saved, d_out, shape, d_qkv);
}

void Fp32Ops::gated_attention(const Rows& qkv, const Gates& gates, const AttentionShape& shape, Operand& out,
                              Probabilities* saved) {
  attend(qkv, &gates, shape, out, saved);
}

void Fp32Ops::gated_attention_backward(const Rows& qkv, const Gates& gates, const Probabilities& saved,
                                       const Rows& d_out, const AttentionShape& shape, Operand& d_qkv) {
  attend_backward(qkv, &gates, saved, d_out, shape, d_qkv);
}

}  // namespace dfrost

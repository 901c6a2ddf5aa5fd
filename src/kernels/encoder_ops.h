// What an encoder needs of an arithmetic: how activations and frozen matrices are stored, and what is
// computed with them. An encoder is written once, over any type that fits; Fp32Ops and Bf16Ops do. Every call
// runs on the calling thread alone (parallelism is over images, outside), and a row's (in attention: an
// image's) result does not depend on what else is in the matrix. Const objects may be shared.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "dfrost/matrix_view.h"
#include "kernels/attention.h"
#include "kernels/weight_shelf.h"

namespace dfrost {

// A frozen matrix [outputs, inputs], packed so that products compute a·matrixᵀ. Made from one, or as room for
// one, in a place that may be filled already (kernels/weight_shelf.h); where it is not, fill() comes before
// anything else.
template <typename W>
concept PackedMatrix = std::default_initializable<W> && std::movable<W> &&
    std::constructible_from<W, MatrixView<const float>> &&
    std::constructible_from<W, std::size_t, std::size_t, const WeightShelf&> &&
    requires(const W& w, W& room, MatrixView<const float> matrix) {
  { w.is_filled() } -> std::same_as<bool>;
  room.fill(matrix);
  { w.outputs() } -> std::same_as<std::size_t>;
  { w.inputs() } -> std::same_as<std::size_t>;
  { w.bytes() } -> std::same_as<std::size_t>;
};

// Activations between two calls: made empty, given their size by the call that fills them, used again.
template <typename T>
concept StoredActivations = std::default_initializable<T> && std::movable<T>;

// Each arithmetic has its own forms of what is stored:
//   Weights        a frozen matrix
//   Operand        the left side of a product
//   Rows           what attention cuts into heads: [rows, 3·width] queries, keys, values; or [rows, width]
//   Factors        what a product is multiplied with, element by element
//   Probabilities  what attention keeps for its way back
template <typename Ops>
concept HasStoredForms = PackedMatrix<typename Ops::Weights> && StoredActivations<typename Ops::Operand> &&
    StoredActivations<typename Ops::Rows> && StoredActivations<typename Ops::Factors> &&
    StoredActivations<typename Ops::Probabilities>;

// MatrixViews have their shape before a call; stored forms get theirs from it.
template <typename Ops>
concept RowOps = HasStoredForms<Ops> &&
    requires(MatrixView<const float> x, MatrixView<const float> d, MatrixView<float> dx, float epsilon,
             std::span<float> inverse_std, std::span<const float> saved_inverse_std,
             std::span<const std::size_t> rows, const typename Ops::Operand& in, typename Ops::Operand& out) {
  // out = (x - mean) / deviation, row by row, without scale and shift; inverse_std keeps 1 / deviation.
  Ops::normalize(x, epsilon, out, inverse_std);
  // dx += the gradient of x from d, that of the normalised rows `in`.
  Ops::normalize_backward(d, in, saved_inverse_std, dx);
  // out = x.
  Ops::pack(x, out);
  // out's row i is in's row rows[i].
  Ops::select_rows(in, rows, out);
};

// bias is empty or [outputs].
template <typename Ops>
concept ProductOps = HasStoredForms<Ops> &&
    requires(const typename Ops::Operand& a, const typename Ops::Weights& w, std::span<const float> bias,
             MatrixView<float> y, typename Ops::Rows& rows, typename Ops::Operand& out,
             typename Ops::Factors* derivative, const typename Ops::Factors& factors,
             const typename Ops::Operand& normalized, std::span<const float> inverse_std) {
  Ops::product(a, w, bias, y);      // y = a·Wᵀ + bias
  Ops::product_add(a, w, bias, y);  // y += a·Wᵀ + bias
  // d = a·Wᵀ; y += the gradient of what `normalized` was made of, from d, as normalize_backward's.
  Ops::product_normalize_backward(a, w, normalized, inverse_std, y);
  Ops::product_rows(a, w, bias, rows);  // rows = a·Wᵀ + bias
  // h = a·Wᵀ + bias; out = gelu(h); *derivative = gelu'(h) where it is not null.
  Ops::product_gelu(a, w, bias, out, derivative);
  Ops::product_times(a, w, factors, out);  // out = (a·Wᵀ) ∘ factors
};

template <typename Ops>
concept AttentionOps = HasStoredForms<Ops> &&
    requires(const typename Ops::Rows& qkv, const AttentionShape& shape, typename Ops::Operand& out,
             typename Ops::Probabilities* kept, const typename Ops::Probabilities& saved,
             const typename Ops::Rows& d_out, typename Ops::Operand& d_qkv) {
  // qkv [rows, 3·width] → out [rows, width]; *kept is for the way back, where it is not null.
  Ops::attention(qkv, shape, out, kept);
  // d_out [rows, width] → d_qkv [rows, 3·width].
  Ops::attention_backward(qkv, saved, d_out, shape, d_qkv);
};

// Gates: what gated attention mixes in, of all heads of a block (kernels/position_gates.h); made of one
// number a head as room for the rest, which is filled as that of weights is.
using HeadGates = std::vector<float>;
template <typename G>
concept PackedGates = std::default_initializable<G> && std::movable<G> &&
    std::constructible_from<G, HeadGates, std::size_t, const WeightShelf&> &&
    requires(const G& gates, G& room, MatrixView<const float> scores) {
  { gates.is_filled() } -> std::same_as<bool>;
  room.fill(scores);
  { gates.bytes() } -> std::same_as<std::size_t>;
};

// As attention, where a patch attends by (1 - gate)·content + gate·position; tokens before the patches have
// no place and attend by content alone.
template <typename Ops>
concept GatedAttentionOps = HasStoredForms<Ops> && PackedGates<typename Ops::Gates> &&
    requires(const typename Ops::Rows& qkv, const typename Ops::Gates& gates, const AttentionShape& shape,
             typename Ops::Operand& out, typename Ops::Probabilities* kept,
             const typename Ops::Probabilities& saved, const typename Ops::Rows& d_out,
             typename Ops::Operand& d_qkv) {
  Ops::gated_attention(qkv, gates, shape, out, kept);
  Ops::gated_attention_backward(qkv, gates, saved, d_out, shape, d_qkv);
};

template <typename Ops>
concept EncoderOps = RowOps<Ops> && ProductOps<Ops> && AttentionOps<Ops>;

}  // namespace dfrost

#include "backbone/gated_attention.h"

#include <cmath>

#include "kernels/small_product.h"
#include "kernels/vector_ops.h"

namespace dfrost {
namespace {

// One head of one image in a matrix of rows: `part` counts widths, queries, keys, values.
template <typename T>
MatrixView<T> head_of(MatrixView<T> rows, const AttentionShape& shape, std::size_t image, std::size_t head,
                      std::size_t part) {
  T* first =
      rows.data() + image * shape.tokens * rows.stride() + part * shape.width() + head * shape.head_size;
  return {first, shape.tokens, shape.head_size, rows.stride()};
}

// What is attended by, from what is attended by content.
void mix_in_positions(MatrixView<const float> content, const PositionGates& gates, std::size_t head,
                      MatrixView<float> mixed) {
  const std::size_t prompts = content.rows() - gates.patches;
  const auto positions = gates.of_head(head);
  const float gate = gates.gates[head];
  for (std::size_t t = 0; t < content.rows(); ++t) {
    const float share = t < prompts ? 1.0f : 1.0f - gate;
    for (std::size_t k = 0; k < content.cols(); ++k) mixed(t, k) = share * content(t, k);
    if (t >= prompts) add_scaled(gate, positions.row(t - prompts), mixed.row(t).subspan(prompts));
  }
}

}  // namespace

PositionGates::PositionGates(const GateWeights& weights, std::size_t grid) : patches(grid * grid) {
  const std::size_t heads = weights.gating.size();
  for (const float value : weights.gating) gates.push_back(1.0f / (1.0f + std::exp(-value)));
  scores.resize(heads * patches * patches);
  const auto at = [&](std::size_t patch, std::size_t other) {
    return static_cast<float>(static_cast<double>(other) - static_cast<double>(patch));
  };
  for (std::size_t h = 0; h < heads; ++h) {
    const float* weight = weights.position.weight.data() + 3 * h;
    for (std::size_t q = 0; q < patches; ++q) {
      for (std::size_t k = 0; k < patches; ++k) {
        const float dx = at(q % grid, k % grid), dy = at(q / grid, k / grid);
        scores[(h * patches + q) * patches + k] =
            weight[0] * dx + weight[1] * dy + weight[2] * (dx * dx + dy * dy) + weights.position.bias[h];
      }
    }
  }
  softmax_rows({scores.data(), heads * patches, patches}, 1.0f);
}

void gated_attention(MatrixView<const float> qkv, const PositionGates& gates, const AttentionShape& shape,
                     Matrix<float>& content, MatrixView<float> out) {
  content.resize(shape.images * shape.heads * shape.tokens, shape.tokens);
  thread_local Matrix<float> mixed;
  mixed.resize(shape.tokens, shape.tokens);
  for (std::size_t image = 0; image < shape.images; ++image) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const auto probabilities =
          content.view().rows_from((image * shape.heads + head) * shape.tokens, shape.tokens);
      small_product(Transpose::no, Transpose::yes, head_of(qkv, shape, image, head, 0),
                    head_of(qkv, shape, image, head, 1), probabilities);
      softmax_rows(probabilities, shape.scale());
      mix_in_positions(probabilities, gates, head, mixed);
      small_product(Transpose::no, Transpose::no, mixed, head_of(qkv, shape, image, head, 2),
                    head_of(out, shape, image, head, 0));
    }
  }
}

void gated_attention_backward(MatrixView<const float> qkv, const PositionGates& gates,
                              MatrixView<const float> content, MatrixView<const float> d_out,
                              const AttentionShape& shape, MatrixView<float> d_qkv) {
  thread_local Matrix<float> mixed, d_scores;
  mixed.resize(shape.tokens, shape.tokens);
  d_scores.resize(shape.tokens, shape.tokens);
  const std::size_t prompts = shape.tokens - gates.patches;
  for (std::size_t image = 0; image < shape.images; ++image) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const auto probabilities = content.rows_from((image * shape.heads + head) * shape.tokens, shape.tokens);
      const auto d = head_of(d_out, shape, image, head, 0);
      mix_in_positions(probabilities, gates, head, mixed);
      small_product(Transpose::yes, Transpose::no, mixed, d, head_of(d_qkv, shape, image, head, 2));
      small_product(Transpose::no, Transpose::yes, d, head_of(qkv, shape, image, head, 2), d_scores);
      for (std::size_t t = prompts; t < shape.tokens; ++t)
        for (float& value : d_scores.row(t)) value *= 1.0f - gates.gates[head];
      softmax_rows_backward(probabilities, shape.scale(), d_scores);
      small_product(Transpose::no, Transpose::no, d_scores, head_of(qkv, shape, image, head, 1),
                    head_of(d_qkv, shape, image, head, 0));
      small_product(Transpose::yes, Transpose::no, d_scores, head_of(qkv, shape, image, head, 0),
                    head_of(d_qkv, shape, image, head, 1));
    }
  }
}

}  // namespace dfrost

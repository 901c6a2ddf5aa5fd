#include "kernels/few_query_attention.h"

#include <algorithm>
#include <vector>

#include "kernels/vector_ops.h"

namespace dfrost {
namespace {

// Calls body(query row, probability row, first token row of its image, first column of its head).
template <typename Body>
void for_each_head(const AttentionShape& shape, std::size_t query_rows, const Body& body) {
  const std::size_t queries = query_rows / shape.images;
  for (std::size_t row = 0; row < query_rows; ++row) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      body(row, row * shape.heads + head, row / queries * shape.tokens, head * shape.head_size);
    }
  }
}

}  // namespace

void few_query_attention(MatrixView<const float> query, MatrixView<const float> key_value,
                         const AttentionShape& shape, MatrixView<float> probabilities,
                         MatrixView<float> out) {
  const std::size_t size = shape.head_size, width = shape.width();
  for_each_head(shape, query.rows(),
                [&](std::size_t row, std::size_t p_row, std::size_t first, std::size_t column) {
                  const auto q = query.row(row).subspan(column, size);
                  const auto p = probabilities.row(p_row);
                  for (std::size_t j = 0; j < shape.tokens; ++j)
                    p[j] = dot(q, key_value.row(first + j).subspan(column, size));
                  softmax_rows(probabilities.rows_from(p_row, 1), shape.scale());
                  const auto o = out.row(row).subspan(column, size);
                  std::ranges::fill(o, 0.0f);
                  for (std::size_t j = 0; j < shape.tokens; ++j) {
                    add_scaled(p[j], key_value.row(first + j).subspan(width + column, size), o);
                  }
                });
}

void few_query_attention_backward(MatrixView<const float> query, MatrixView<const float> key_value,
                                  MatrixView<const float> probabilities, MatrixView<const float> d_out,
                                  const AttentionShape& shape, MatrixView<float> d_query,
                                  MatrixView<float> d_key_value) {
  const std::size_t size = shape.head_size, width = shape.width();
  for (std::size_t r = 0; r < d_query.rows(); ++r) std::ranges::fill(d_query.row(r), 0.0f);
  for (std::size_t r = 0; r < d_key_value.rows(); ++r) std::ranges::fill(d_key_value.row(r), 0.0f);
  std::vector<float> d_scores(shape.tokens);
  for_each_head(shape, query.rows(),
                [&](std::size_t row, std::size_t p_row, std::size_t first, std::size_t column) {
                  const auto p = probabilities.row(p_row);
                  const auto d = d_out.row(row).subspan(column, size);
                  for (std::size_t j = 0; j < shape.tokens; ++j) {
                    d_scores[j] = dot(d, key_value.row(first + j).subspan(width + column, size));
                    add_scaled(p[j], d, d_key_value.row(first + j).subspan(width + column, size));
                  }
                  softmax_rows_backward(probabilities.rows_from(p_row, 1), shape.scale(),
                                        {d_scores.data(), 1, shape.tokens});
                  for (std::size_t j = 0; j < shape.tokens; ++j) {
                    add_scaled(d_scores[j], key_value.row(first + j).subspan(column, size),
                               d_query.row(row).subspan(column, size));
                    add_scaled(d_scores[j], query.row(row).subspan(column, size),
                               d_key_value.row(first + j).subspan(column, size));
                  }
                });
}

}  // namespace dfrost

// Attention for a few queries per image (the special tokens of the last block) over the keys and values of
// all its tokens, in fp32. Too small for a matrix product to pay. Shapes: query, out [images·queries, width];
// key_value [images·tokens, 2·width], keys first; probabilities [images·queries·heads, tokens].
#pragma once

#include "dfrost/matrix_view.h"
#include "kernels/attention.h"

namespace dfrost {

void few_query_attention(MatrixView<const float> query, MatrixView<const float> key_value,
                         const AttentionShape& shape, MatrixView<float> probabilities, MatrixView<float> out);

void few_query_attention_backward(MatrixView<const float> query, MatrixView<const float> key_value,
                                  MatrixView<const float> probabilities, MatrixView<const float> d_out,
                                  const AttentionShape& shape, MatrixView<float> d_query,
                                  MatrixView<float> d_key_value);

}  // namespace dfrost

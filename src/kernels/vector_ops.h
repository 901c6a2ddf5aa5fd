// Element-wise and row-wise kernels in fp32, vectorised for the machine they run on (Highway picks the
// instruction set at run time). Sums run in a fixed order, so a result depends on the machine's vector width
// but never on threads or on the other rows. reference.h has the slow obvious version of each.
#pragma once

#include <span>

#include "dfrost/matrix_view.h"

namespace dfrost {

// out = (x - mean) · inverse_std per row: LayerNorm without its affine part, which a frozen model folds into
// the next matrix. `out` may be `x`.
void normalize_rows(MatrixView<const float> x, float epsilon, MatrixView<float> out,
                    std::span<float> inverse_std);

// dx += inverse_std · (d - mean(d) - normalized · mean(d ∘ normalized)) per row.
void normalize_rows_backward(MatrixView<const float> d, MatrixView<const float> normalized,
                             std::span<const float> inverse_std, MatrixView<float> dx);

// x = gelu(x); *derivative = gelu'(x) where it is not null.
void gelu_rows(MatrixView<float> x, MatrixView<float>* derivative);

// x = softmax(scale · x) per row.
void softmax_rows(MatrixView<float> x, float scale);

// d = scale · p ∘ (d - Σ p∘d) per row: from the gradient of softmax's result to that of its argument before
// scaling.
void softmax_rows_backward(MatrixView<const float> p, float scale, MatrixView<float> d);

// x = x ∘ factors.
void multiply_rows(MatrixView<const float> factors, MatrixView<float> x);

float dot(std::span<const float> a, std::span<const float> b);
// y += a·x.
void add_scaled(float a, std::span<const float> x, std::span<float> y);

}  // namespace dfrost

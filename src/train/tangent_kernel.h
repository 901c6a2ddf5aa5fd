// A head near some weights as its tangent: the Jacobian of its outputs by its weights, over pictures. Of a
// chain of linear maps with ReLU between, the row of picture i and class c is, layer by layer, the outer
// product of what comes back to the layer's outputs and what enters it; with the weights at hand, what enters
// each layer is all of it. So the Jacobian is kept as that, N·Σ inputs numbers, instead of N·C·P; kernel and
// updates come from it by matrix products (oneDNN), exactly. Only heads `linear` and `mlp`. fp32, calling
// thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dfrost/matrix_view.h"
#include "kernels/buffer.h"
#include "train/client_state.h"

namespace dfrost {

struct HeadTangent {
  std::vector<Matrix<float>> inputs;  // of each layer, [pictures, inputs]
  Matrix<float> outputs;              // [pictures, classes]
  std::vector<std::size_t> labels;

  std::size_t pictures() const { return labels.size(); }
};

// Of the head in `state`, at pictures whose features are the rows of `features`.
HeadTangent head_tangent(const ClientState& state, MatrixView<const float> features,
                         std::span<const std::size_t> labels);

// K = (1/C) Σ_c J_c J_cᵀ, [pictures, pictures], at the head in `state`, which the tangent is of.
Matrix<float> tangent_kernel(const ClientState& state, const HeadTangent& tangent);

// values += scale · Σ_c J_cᵀ by_output_c, in the head's parts; by_output [pictures, classes], values laid out
// as the state's.
void add_along_tangent(const ClientState& state, const HeadTangent& tangent,
                       MatrixView<const float> by_output, float scale, std::span<float> values);

}  // namespace dfrost

// What this machine's matrix product reaches, now: the yardstick that a step's speed is held against.
// Measured in the same run, because these figures move with whatever else the machine does.
#pragma once

#include <cstddef>
#include <utility>

#include "base/repeated_work.h"
#include "kernels/buffer.h"
#include "kernels/encoder_ops.h"

namespace dfrost {

struct ProductShapes {
  std::size_t rows, outputs, inputs;
};

// GFLOP/s of `threads` threads that each multiply by one shared packed matrix for about `seconds`.
template <ProductOps Ops>
double measure_product_gflops(const ProductShapes& shape, std::size_t threads, double seconds) {
  Matrix<float> matrix(shape.outputs, shape.inputs), activations(shape.rows, shape.inputs);
  // Plain small numbers: denormals or NaNs would be slower, zeros might be faster.
  for (std::size_t i = 0; i < shape.outputs * shape.inputs; ++i)
    matrix.data()[i] = 0.01f * static_cast<float>(i % 7);
  for (std::size_t i = 0; i < shape.rows * shape.inputs; ++i)
    activations.data()[i] = 0.01f * static_cast<float>(i % 5);
  const typename Ops::Weights weights(matrix.view());
  const double runs = runs_per_second(threads, seconds, [&](std::size_t) {
    typename Ops::Operand a;
    Ops::pack(activations, a);
    return [&weights, a = std::move(a), out = Matrix<float>(shape.rows, shape.outputs)]() mutable {
      Ops::product(a, weights, {}, out);
    };
  });
  return 2e-9 * static_cast<double>(shape.rows * shape.outputs * shape.inputs) * runs;
}

}  // namespace dfrost

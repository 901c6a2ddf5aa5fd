// What this machine's matrix product reaches, now: the yardstick that a step's speed is held against.
// Measured in the same run, because these figures move with whatever else the machine does.
#pragma once

#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "kernels/buffer.h"

namespace dfrost {

struct ProductShapes {
  std::size_t rows, outputs, inputs;
};

// GFLOP/s of `threads` threads that each multiply by one shared packed matrix for about `seconds`.
template <class Ops>
double measure_product_gflops(const ProductShapes& shape, std::size_t threads, double seconds) {
  Matrix<float> matrix(shape.outputs, shape.inputs), activations(shape.rows, shape.inputs);
  // Plain small numbers: denormals or NaNs would be slower, zeros might be faster.
  for (std::size_t i = 0; i < shape.outputs * shape.inputs; ++i)
    matrix.data()[i] = 0.01f * static_cast<float>(i % 7);
  for (std::size_t i = 0; i < shape.rows * shape.inputs; ++i)
    activations.data()[i] = 0.01f * static_cast<float>(i % 5);
  const typename Ops::Weights weights(matrix.view());
  std::vector<double> rates(threads);
  const auto work = [&](std::size_t thread) {
    using Clock = std::chrono::steady_clock;
    typename Ops::Operand a;
    Ops::pack(activations, a);
    Matrix<float> out(shape.rows, shape.outputs);
    Ops::product(a, weights, {}, out);  // warm: code generated, pages touched
    const auto start = Clock::now();
    double elapsed = 0;
    std::size_t runs = 0;
    while (elapsed < seconds) {
      Ops::product(a, weights, {}, out);
      ++runs;
      elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    }
    rates[thread] = 2e-9 * static_cast<double>(shape.rows * shape.outputs * shape.inputs * runs) / elapsed;
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
  for (auto& other : others) other.join();
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

}  // namespace dfrost

// How the outputs of a head move under its tangent kernel (NTK-DFL, Thompson et al. 2025): with K the kernel
// over N pictures and Y their classes, f' = −(1/N) K (softmax(f) − Y) from the outputs at the weights w̄, for
// as long as tolerances allow (base/ode.h). At a time of n steps of the rate the weights are w̄ − (rate/N)
// Σ_{k<n} Jᵀ (softmax(f_k) − Y), which the caller adds.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/ode.h"
#include "dfrost/matrix_view.h"
#include "kernels/buffer.h"
#include "train/loss.h"

namespace dfrost {

struct EvolutionOptions {
  double rate = 0.01;                                               // time of one step
  std::vector<std::size_t> steps = {100, 200, 300, 400, 500, 600};  // that may be taken; ascending
  OdeOptions solver = {};
};

struct Evolution {
  std::size_t steps = 0;   // those of the list after which the outputs fit the classes best
  double loss = 0;         // mean cross-entropy then
  Matrix<float> residual;  // [pictures, classes]: Σ softmax(f_k) − Y over those steps
  OdeSummary solver = {};  // not finished: none of the above
};

// kernel [pictures, pictures], outputs [pictures, classes]. Only the classes of a target's domain compete.
Evolution evolve_outputs(MatrixView<const float> kernel, MatrixView<const float> outputs,
                         std::span<const Target> targets, const EvolutionOptions& options);

}  // namespace dfrost

// The mixing factor ρ = ‖W − 11ᵀ/M‖₂: by how much one exchange shrinks disagreement at worst. 0 for a full
// graph (everybody agrees at once), 1 exactly when the graph is not connected. The norm is the largest
// |eigenvalue| of W on the vectors that sum to zero.
#pragma once

#include "network/mixing.h"

namespace dfrost {

struct MixingEstimate {
  double factor = 0;
  // Some eigenvalue lies so near to `factor` (the residual of the eigenvector that was found), and ρ is no
  // smaller than it; rounding alone where all eigenvalues are computed, 0 where no computation is needed.
  // That the eigenvalue is the outermost is no theorem, but for a random start a matter of probability.
  double error = 0;
};
// Dense up to a few hundred clients, Lanczos above: milliseconds either way for the default topology.
MixingEstimate estimate_mixing(const MixingMatrix& mixing);
double mixing_factor(const MixingMatrix& mixing);

// All eigenvalues of the dense matrix (Eigen): M² memory, M³ time.
double mixing_factor_dense(const MixingMatrix& mixing);

// Lanczos (1950) without reorthogonalisation: that repeats eigenvalues that were already found, which does
// not matter where only the outermost is wanted, and so a step costs one product with W and two vectors,
// however many steps a long ring takes. Steps double until the answer stays within 1e-13. Deterministic.
double mixing_factor_lanczos(const MixingMatrix& mixing);
// After so many steps, whatever has come of it by then.
MixingEstimate mixing_after_steps(const MixingMatrix& mixing, std::size_t steps);

// The least eigenvalue of W, or 0 where all are positive.
double least_eigenvalue(const MixingMatrix& mixing);

}  // namespace dfrost

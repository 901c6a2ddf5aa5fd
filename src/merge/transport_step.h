// The transport step of the OT merge (eq. P_subproblem): one softmax over the merged prompts for every row,
// in the log domain, vectorised over rows. Matrices are [n, N]: a merged prompt's values for all rows lie
// side by side.
#pragma once

#include <span>

#include "ot/matrix.h"

namespace dfrost {

struct TransportStep {
  double entropy = 0;              // Σ P (log P − 1)
  double squared_plan_change = 0;  // ‖P − P_before‖²
};

// plan(i, a) = mass[a] · softmax_i(−distances(i, a) · scale), scale = 1 / (2σ²ε). `plan` holds P_before on
// entry. `mass` and its logarithm are padded like a row of the matrices (zeros after the last row).
TransportStep transport_step(const DoubleMatrix& distances, double scale, const DoubleMatrix& mass_and_log,
                             DoubleMatrix& plan, std::span<double> column_mass);

// Σ_ia plan(i, a) · distances(i, a).
double transport_cost(const DoubleMatrix& plan, const DoubleMatrix& distances);

namespace reference {
// The same, one row at a time with the standard library.
TransportStep transport_step(const DoubleMatrix& distances, double scale, const DoubleMatrix& mass_and_log,
                             DoubleMatrix& plan, std::span<double> column_mass);
}  // namespace reference

}  // namespace dfrost

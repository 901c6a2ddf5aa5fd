// Where the merged prompts live while a merge runs. They are always combinations of known rows b_k (those of
// all senders, then Φ(0) where it is none of them), so a position is a set of coefficients: φ_i = scale_i ·
// Σ_k w_ik b_k. Two forms do the same sums in different order and check each other: GramSpace never leaves
// the products of the rows, DirectSpace works on the rows.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dfrost/merge.h"
#include "transport/matrix.h"

namespace dfrost {

struct Position {
  Matrix weights;             // w, [n, rows]
  std::vector<double> scale;  // one per prompt
};

class PromptSpace {
 public:
  virtual ~PromptSpace() = default;

  // Moves all prompts; returns ‖Φ_now − Φ_before‖².
  virtual double move_to(const Position& position) = 0;
  // distances(i, a) = ‖z_a − φ_i‖² for the first distances.cols() rows, [n, N].
  virtual void measure(Matrix& distances) const = 0;
  // Σ‖φ_i‖².
  virtual double squared_norm() const = 0;
  // Φ itself, [n, d].
  virtual Matrix prompts() const = 0;
};

// Both keep a reference to `rows`, which must outlive them.
std::unique_ptr<PromptSpace> make_gram_space(const Matrix& rows, std::size_t prompts);
std::unique_ptr<PromptSpace> make_direct_space(const Matrix& rows, std::size_t prompts);

// The form that `automatic` stands for. `sharpness` is 1 / (2σ²ε) at the smallest ε.
MergeForm choose_form(const Matrix& rows, std::size_t prompts, std::size_t steps, double sharpness);

}  // namespace dfrost

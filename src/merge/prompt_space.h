// Where the merged prompts live while a merge runs. They are always combinations of known rows b_k (those of
// all senders, then Φ(0) where it is none of them), so a position is a set of coefficients: φ_i = scale_i ·
// Σ_k w_ik b_k. Two forms do the same sums in different order and check each other: GramSpace never leaves
// the products of the rows, DirectSpace works on the rows.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "dfrost/merge.h"
#include "ot/matrix.h"

namespace dfrost {

struct Position {
  DoubleMatrix weights;       // w, [n, rows]
  std::vector<double> scale;  // one per prompt
};

struct Move {
  double squared_length = 0;  // ‖Φ_now − Φ_before‖²
  bool at_rest = false;       // nothing moved beyond rounding: prompts and distances are what they were
};

class PromptSpace {
 public:
  virtual ~PromptSpace() = default;

  // Moves all prompts, and brings distances(i, a) = ‖z_a − φ_i‖² up to date for the first distances.cols()
  // rows, [n, N]: it holds on entry what the move before left there.
  virtual Move move_to(const Position& position, DoubleMatrix& distances) = 0;
  // Σ‖φ_i‖².
  virtual double squared_norm() const = 0;
  // Φ itself, [n, d].
  virtual DoubleMatrix prompts() const = 0;
};

// Prompts rest when no sum of changes of a prompt's coefficients exceeds this: what summing them rounds off.
// The changes are not lost but wait until they exceed it.
inline constexpr double kRest = 1e-15;

// What rounding may change in an exponent of the softmax before something more exact is done instead.
inline constexpr double kTolerableExponentError = 1e-10;

// Both keep a reference to `rows`, which must outlive them. `sharpness` is 1 / (2σ²ε) at the smallest ε: what
// an exponent multiplies a distance with.
std::unique_ptr<PromptSpace> make_gram_space(const DoubleMatrix& rows, std::size_t prompts);
std::unique_ptr<PromptSpace> make_direct_space(const DoubleMatrix& rows, std::size_t prompts,
                                               double sharpness);

// The form that `automatic` stands for.
MergeForm choose_form(const DoubleMatrix& rows, std::size_t prompts, std::size_t steps, double sharpness);

// Of every row; and whether distances may be had from them and from products, ‖z‖² − 2⟨z, φ⟩ + ‖φ‖². Such a
// distance is off by what rounding takes from the norms, however near the points are to each other.
std::vector<double> squared_norms(const DoubleMatrix& rows);
bool products_suffice(std::span<const double> squared_norms, double sharpness);

}  // namespace dfrost

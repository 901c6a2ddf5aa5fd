// From the prompt sets of a neighbourhood to one prompt set: what a client does with what it received.
// Rows are prompts; floats at the border, doubles inside; one thread; the same input gives the same bytes.
//
// kind = ot is D-FROST's merge (paper: eq. full_objective, P_subproblem, update_phi). Over the N rows z_a of
// all senders, with masses q_a, it alternates for S steps, from Φ(0),
//   P_ai = q_a · softmax_i(−C_ai / ε),   φ_i = Σ_a P_ai z_a / (Σ_a P_ai + λ),   C_ai = ‖z_a − φ_i‖² / 2σ²
// and so never increases J = ⟨P, C⟩ + ε Σ P (log P − 1) + (λ/2σ²) Σ‖φ_i‖².
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dfrost/matrix_view.h"

namespace dfrost {

enum class MergeKind {
  ot,          // D-FROST: entropic, the mass of a merged prompt is free
  average,     // weighted average by index, as FedAvg and its kin; all sets have n rows
  barycenter,  // exact and balanced: every merged prompt gets mass 1/n, none dies, none shrinks
};

enum class MergeInit {
  own,               // the first n rows of the first sender, filled up by k-means++ where it has fewer
  previous,          // MergeInput::previous
  kmeans_plus_plus,  // drawn from all rows
};

enum class DeadPrompts {
  paper,   // a prompt without mass becomes 0 / (0 + λ) = 0
  keep,    // it stays where it was
  reseed,  // it moves onto the row that the others serve worst
};

enum class Shrink {
  paper,  // λ as written, which also pulls every prompt towards the origin, by about 1 % per merge
  off,    // as if λ were 0
};

enum class MergeForm {
  automatic,  // the cheaper of the two, and `direct` wherever Gram space would lose digits
  gram,       // on the N×N products of the rows: a step costs N²n, the products N²d/2
  direct,     // on the rows themselves: a step costs 2Nnd, half of that near rest
};

struct MergeOptions {
  MergeKind kind = MergeKind::ot;

  double epsilon = 0.01;  // softness of the assignment
  double lambda = 0.001;  // weight of the L2 term; 0 is allowed
  double sigma2 = 1;      // scale of the cost
  std::size_t steps = 50;
  // Anneals ε geometrically from this to `epsilon` over the steps; 0: constant.
  double epsilon_init = 0;
  // A step that moves less than this (Δ, see MergeSummary) counts as converged.
  double tolerance = 1e-6;
  bool early_stop = false;  // leave at the first such step; the paper always takes all steps
  MergeInit init = MergeInit::own;
  DeadPrompts dead = DeadPrompts::paper;
  Shrink shrink = Shrink::paper;
  MergeForm form = MergeForm::automatic;
  // ot, against hostile senders: the share of all mass that lies furthest from the merged prompts and is left
  // out of every step (partial transport); what stays is scaled to one again. 0: none.
  double trim = 0;
  // ot: a merged prompt becomes a geometric median of its mass instead of its mean, by Weiszfeld's steps. A
  // row further from it than this many times the usual distance of a received row to the nearest of the first
  // sender's loses weight with its distance; nearer ones count in full. Large: the mean, exactly. 0: off.
  double median = 0;
  std::uint64_t seed = 0;  // of the k-means++ draws

  void validate() const;
};

struct MergeInput {
  // The client's own set first, then those received. Sizes may differ; all rows have the same length d.
  std::span<const MatrixView<const float>> senders;
  // One weight per sender, summing to one (a row of the mixing matrix); none given: all the same. A sender's
  // rows share its weight equally, however many it sent.
  std::span<const double> weights = {};
  // Φ(0) for MergeInit::previous, [n, d].
  MatrixView<const float> previous = {};
  // Of each sender the shares of its rows, summing to one; none given, or none of a sender: all the same.
  std::span<const std::vector<double>> masses = {};
  // For kinds that transport: M, [m, d]. Costs are then ‖M(z − φ)‖² instead of ‖z − φ‖²; everything that this
  // file says holds for the rows M z, of which the merged prompts are the same combinations as of the rows
  // themselves, J and Δ included. Empty: distances of the rows as they are.
  MatrixView<const float> metric = {};
};

// Theorem 1 of the paper: min_s Δ(s) ≤ sqrt(4 (J(0) − J*) / (μ S)), J* = −ε (log(nN) + 1), μ = min(ε, λ/σ²),
// with P(0) = q ⊗ 1/n. Under annealing it holds with the largest ε in J* and the smallest in μ. A reseed
// starts a new descent, so S and J(0) then count from the last one. Without λ the bound is infinite.
struct TheoremCheck {
  double bound = 0;
  double smallest_delta = 0;
  bool held = true;
};

struct MergeSummary {
  std::size_t steps = 0;               // taken
  bool converged = false;              // the last step moved less than the tolerance
  MergeForm form = MergeForm::direct;  // that was used
  double initial_objective = 0;        // J(P(0), Φ(0))
  std::vector<double> objective;       // J(P(s), Φ(s)) for s = 1 … steps, each at its own step's ε
  std::vector<double> delta;        // Δ(s) = ‖P(s) − P(s−1)‖ + ‖Φ(s) − Φ(s−1)‖, Frobenius
  std::vector<double> column_mass;  // Σ_a P_ai: how much each merged prompt stands for
  // Merged prompts that end with less than a millionth of a fair share; and all that had so little in some
  // step: whatever DeadPrompts did with them, those that came to life again among them.
  std::vector<std::size_t> dead, died;
  std::size_t reseeds = 0;
  // The share of mass that leaves its own index: row j of a sender to a merged prompt other than j. 0 means
  // that averaging by index would have done the same.
  double off_index_mass = 0;
  TheoremCheck theorem;  // not of a merge that trims or takes medians
  // P, [N, n] row-major, rows in the order of the senders. What MergeOptions::trim leaves out is not in it,
  // and rows that its median softens have what they weigh.
  std::vector<double> plan;
  double softened_mass = 0;  // that rows lost to nearer ones by MergeOptions::median, in the last step
};

// n = merged.rows(), which need not be what the senders have. For kind = average the plan is the identity;
// for barycenter it stacks the exact plans, `objective` holds the one value Σ weight·W₂², and `steps` are
// passes.
MergeSummary merge(const MergeInput& input, const MergeOptions& options, MatrixView<float> merged);

// A merge of a program's own, for RunOptions::merge. `merged` is to be filled with finite numbers; it holds
// nothing of use before. input.weights are the client's row of the mixing matrix, input.previous its prompts
// from before this round's training. Called from several threads at once.
struct CustomMerge {
  // For the records; a run goes on under the same name alone.
  std::string name = "custom";
  std::function<void(const MergeInput& input, std::size_t client, std::size_t round,
                     MatrixView<float> merged)>
      merge;
};

}  // namespace dfrost

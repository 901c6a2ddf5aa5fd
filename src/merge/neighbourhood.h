// All rows that a merge works on, with the mass of each and the place it came from.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dfrost/merge.h"
#include "ot/matrix.h"

namespace dfrost {

struct Neighbourhood {
  // What distances are taken between: z, [N, d], then the previous prompts where the merge starts from them;
  // or with a metric M their images M z, [N, m], rounded to floats.
  DoubleMatrix rows;
  std::vector<double> mass;        // q, sums to one
  std::vector<std::size_t> index;  // of each row within its sender
  std::vector<double> weights;     // of each sender, sums to one
  DoubleMatrix embedded = {};      // with a metric: z, of which merged prompts are made; else empty
};

// Checks the senders (none is empty, one width, finite values) and their weights; there is at least one.
// `previous` is checked by the caller, and empty where the merge starts elsewhere.
Neighbourhood gather(const MergeInput& input, MatrixView<const float> previous);

// Prompts that are combinations of the embedded rows, [n, d]; weights is [n, as many rows or fewer].
DoubleMatrix combine_embedded(const Neighbourhood& neighbourhood, const DoubleMatrix& weights,
                              std::span<const double> scale);

// The share of the plan's mass that leaves its own index; plan is [N, n] row-major.
double off_index_mass(const Neighbourhood& neighbourhood, std::span<const double> plan, std::size_t prompts);

}  // namespace dfrost

// D-FROST's merge before it is rounded to floats. What is computed is stated in dfrost/merge.h.
#pragma once

#include <cstddef>

#include "dfrost/merge.h"
#include "merge/neighbourhood.h"
#include "ot/matrix.h"

namespace dfrost {

struct MergedPrompts {
  DoubleMatrix prompts;  // [n, d]
  MergeSummary summary;
};

// The options are valid, and the neighbourhood holds the previous prompts where they ask for them.
MergedPrompts ot_merge(const Neighbourhood& neighbourhood, std::size_t prompts, const MergeOptions& options);

}  // namespace dfrost

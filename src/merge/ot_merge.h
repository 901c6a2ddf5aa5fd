// D-FROST's merge before it is rounded to floats. What is computed is stated in dfrost/merge.h.
#pragma once

#include <cstddef>

#include "dfrost/merge.h"
#include "merge/neighbourhood.h"
#include "transport/matrix.h"

namespace dfrost {

struct MergedPrompts {
  Matrix prompts;  // [n, d]
  MergeSummary summary;
};

// The options are valid; `previous` is [prompts, d] where options.init asks for it.
MergedPrompts ot_merge(const Neighbourhood& neighbourhood, MatrixView<const float> previous,
                       std::size_t prompts, const MergeOptions& options);

}  // namespace dfrost

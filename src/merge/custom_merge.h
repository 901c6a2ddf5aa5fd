// A merge that a program brings along, held to what every merge must leave: finite prompts, and a summary of
// who went where. That is measured by exact transport from the senders' rows to what was made of them, since
// only the program knows how it came about.
#pragma once

#include <cstddef>

#include "dfrost/merge.h"

namespace dfrost {

// Throws (failed_precondition) where the result is not finite.
MergeSummary merge_by(const CustomMerge& custom, const MergeInput& input, std::size_t client,
                      std::size_t round, MatrixView<float> merged);

}  // namespace dfrost

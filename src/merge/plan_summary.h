// The parts of a merge's summary that follow from its plan; only the OT merge has more to say.
#pragma once

#include <cstddef>
#include <vector>

#include "dfrost/merge.h"
#include "merge/neighbourhood.h"

namespace dfrost {

// plan [N, n] row-major.
MergeSummary summary_of_plan(const Neighbourhood& all, std::vector<double> plan, std::size_t prompts);

}  // namespace dfrost

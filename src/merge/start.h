// Φ(0): the rows of the neighbourhood that a merge starts from, one per merged prompt.
#pragma once

#include <cstddef>
#include <vector>

#include "dfrost/merge.h"
#include "merge/neighbourhood.h"

namespace dfrost {

std::vector<std::size_t> choose_start(const Neighbourhood& neighbourhood, std::size_t prompts,
                                      const MergeOptions& options);

}  // namespace dfrost

// Φ(0): the rows that a merge starts from.
#pragma once

#include <cstddef>
#include <vector>

#include "dfrost/merge.h"
#include "merge/neighbourhood.h"
#include "transport/matrix.h"

namespace dfrost {

struct Start {
  Matrix basis;  // the neighbourhood's rows, then those of `previous` where it is the start
  std::vector<std::size_t> chosen;  // the row of `basis` that each prompt starts on
};

Start choose_start(const Neighbourhood& neighbourhood, MatrixView<const float> previous, std::size_t prompts,
                   const MergeOptions& options);

}  // namespace dfrost

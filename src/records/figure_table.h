// The table of figures: all rows, whichever part of a round's record they stand beside. This header is enough
// for those who read figures by name.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/figure.h"

namespace dfrost {

// In the order of metrics.jsonl.
std::span<const Figure> figures();

// Those with a column, from left to right.
std::vector<const Figure*> compared_figures();

// Its path in summary.json: "final.accuracy_masked.mean", "seconds.total"; empty where it is not there.
std::string summary_path(const Figure& figure);

}  // namespace dfrost

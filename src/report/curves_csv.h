// A run's curves as comma-separated values (RFC 4180): a header, then a line per round. A column is a scalar
// field of metrics.jsonl, nested names joined by dots ("evaluation.accuracy_masked.mean"); a round that has
// no such field, or null, has an empty cell. Lists (scored clients, the graph) are left out.
#pragma once

#include <span>
#include <string>

#include "report/json_lines.h"

namespace dfrost {

std::string curves_csv(std::span<const Json> rounds);

}  // namespace dfrost

// Pictures that a program brings along, as a run reads its own: one domain, whose partition is known.
#pragma once

#include "config/config.h"
#include "dfrost/run.h"

namespace dfrost {

// Makes them the data and the partition of the experiment. They are copied when the run opens its data, and
// must live until then. Throws (invalid_argument) where they make no federation.
void bring_data(const RunData& data, RunConfig& config);

}  // namespace dfrost

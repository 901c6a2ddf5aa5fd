// Where [attack] and [defence] fit the rest of an experiment, and where they do not.
#pragma once

#include "config/config.h"

namespace dfrost {

// Throws (invalid_argument) with the reason, at the key.
void check_hostile(const RunConfig& config);

}  // namespace dfrost

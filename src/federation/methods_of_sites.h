// What a simulation can do and sites cannot, or must not: asked of a founder's experiment, and again of every
// federation file, since whoever signed that may have made it by other means.
#pragma once

#include "config/config.h"

namespace dfrost {

// Throws (invalid_argument) with what is not for sites, and why.
void check_methods_of_sites(const RunConfig& config);

}  // namespace dfrost

// What [privacy] cannot be combined with, because something else would tell what noise is to hide.
#pragma once

#include "config/config.h"

namespace dfrost {

// Throws (invalid_argument) with the reason, at the key.
void check_privacy(const RunConfig& config);

}  // namespace dfrost

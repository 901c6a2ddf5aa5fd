// What a public Config stands for, for those who run it.
#pragma once

#include "config/config.h"
#include "dfrost/config.h"

namespace dfrost {

struct ConfigAccess {
  // Valid while the Config, or a copy of it, lives unchanged.
  static const RunConfig& resolved(const Config& config);
};

}  // namespace dfrost

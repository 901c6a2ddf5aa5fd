// Names the random streams of one client in one round.
#pragma once

#include <cstdint>

#include "base/random.h"

namespace dfrost {

struct RandomKey {
  Seed seed = 0;
  std::uint64_t client = 0;
  std::uint64_t round = 0;
};

}  // namespace dfrost

// Who is hostile: a function of [attack], the seed and the number of clients, so that simulator, peers and
// observers agree.
#pragma once

#include <cstddef>
#include <vector>

#include "base/random.h"
#include "config/attack.h"

namespace dfrost {

// One per client; nobody where there is no attack.
std::vector<bool> attackers_of(const AttackSection& attack, std::size_t clients, Seed seed);

}  // namespace dfrost

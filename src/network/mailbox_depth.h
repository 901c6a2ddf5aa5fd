// How far ahead of a client its neighbours' messages can be: how many rounds a mailbox must keep (Mailbox).
#pragma once

#include <cstdint>

#include "network/faults.h"
#include "network/topology.h"

namespace dfrost {

// Enough for all but one message in a million, and that behind a client that lags while all others run as
// fast as the graph allows; a message that is lost so is missing as if its link had failed. 1 on a graph that
// stays the same; ⌈log_{κ+1} M⌉ + 1 or + 2 on one redrawn each round, κ being its mean degree; more where
// links fail or clients are absent. At least 1, never above the number of clients, which only matters where a
// client is absent for so long that nothing binds the others to it. Draws a few rounds to know the degrees.
std::uint64_t rounds_ahead(const Topology& topology, const FaultOptions& faults);

}  // namespace dfrost

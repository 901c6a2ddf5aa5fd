// Whether a peer was left behind, and in which round it joins the others again. Pulses alone do not say so:
// on a ring, somebody three places away may be three rounds ahead with nothing amiss. But the graphs of the
// rounds say how far everybody can have come as long as nobody gave up on anybody; who is beyond that did.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "network/graph.h"
#include "network/tls/wire.h"

namespace dfrost {

// How far each member can be while `self` has yet to send its letters of round `next`, if everybody waits for
// all neighbours: those of a member that is in round t cannot be beyond t, theirs in t + 1 not beyond t + 1,
// and so on. Looks no further than `last`, which stands for any round from there on.
std::vector<std::uint64_t> furthest_rounds(ClientId self, std::uint64_t next, std::uint64_t last,
                                           std::size_t members, const GraphOfRound& graph);

// The median of the rounds that the living report, where at least two of them (or all, where there are fewer
// others) are further than they could be, and two rounds or more ahead of the last one done. Nothing: it was
// not left behind.
std::optional<std::uint64_t> round_to_join(ClientId self, std::uint64_t next,
                                           std::span<const PeerView> others, const GraphOfRound& graph);

}  // namespace dfrost

// What a node's mailbox may keep in a run whose plan is known: as many rounds ahead as neighbours can be, no
// message longer than any that the method's phases expect, and none of who is no neighbour in its round.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "network/graph.h"
#include "network/mailbox.h"
#include "run/method.h"
#include "run/node.h"

namespace dfrost {

// For the mailboxes of these nodes. Whom to admit is left open, since it differs from node to node.
MailboxOptions mailbox_options(const Method& method, std::uint64_t rounds_ahead, std::span<const Node> nodes);

// Whether a sender is a neighbour of `self` in a round, by the rounds' graphs. Any number of threads may ask
// at once; a round's graph is drawn once, those of the last `kept` rounds are remembered.
std::function<bool(ClientId sender, Moment moment)> neighbours_of(GraphOfRound graph, std::uint64_t kept,
                                                                  ClientId self);

}  // namespace dfrost

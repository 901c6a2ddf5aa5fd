// Which rank a node lives on, for a whole run: what it caches, and what its optimizer remembers, stays there.
// By its work, so that all ranks end their rounds at about the same time. Deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "run/groundwork.h"

namespace dfrost {

// Of each client in a round that it takes part in: pictures × epochs, or pictures, where a method takes one
// gradient of them. A server's is nothing.
std::vector<std::uint64_t> work_of_nodes(const Groundwork& ground);

// The heaviest first, each to the rank that has least for each of its threads: no rank then has more than the
// mean and one node's work beside. Nodes without work are spread by their number.
std::vector<std::size_t> place_nodes(std::span<const std::uint64_t> work,
                                     std::span<const std::size_t> threads);

}  // namespace dfrost

// Random graphs over clients 0 … M−1, fixed by the stream they are drawn from.
#pragma once

#include <cstddef>
#include <vector>

#include "base/random.h"
#include "network/graph.h"

namespace dfrost {

// Each pair with probability degree / (clients − 1), independently. degree < clients; one draw per pair.
std::vector<Edge> erdos_renyi_edges(std::size_t clients, std::size_t degree, RandomStream& random);

// A simple graph in which every client has exactly `degree` neighbours; degree < clients, degree·clients
// even. Pairing (Bollobás, 1980), repair and mixing by switches (McKay and Wormald, 1990): uniform over all
// such graphs as far as can be measured. Time goes with the number of links; above degree M/2 with M², since
// then the complement is drawn.
std::vector<Edge> random_regular_edges(std::size_t clients, std::size_t degree, RandomStream& random);

}  // namespace dfrost

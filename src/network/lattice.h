// The graphs with a fixed form: links between places, before anybody stands on them. Place p of a grid is
// row p / columns, column p % columns. Sizes at which a link would be a loop or a second copy of another
// (a cycle of two, a torus of two rows) have it once or not at all.
#pragma once

#include <cstddef>
#include <vector>

#include "network/graph.h"

namespace dfrost {

// The largest divisor of `places` that is not above its square root; a prime gives 1.
std::size_t grid_rows(std::size_t places);

std::vector<Edge> ring_edges(std::size_t places);
std::vector<Edge> grid_edges(std::size_t places);
std::vector<Edge> torus_edges(std::size_t places);
std::vector<Edge> exponential_edges(std::size_t places);
std::vector<Edge> full_edges(std::size_t places);

}  // namespace dfrost

#include "network/lattice.h"

#include <algorithm>

namespace dfrost {
namespace {

// Adds the link unless both ends are one place. Copies are left to Graph, which keeps one.
void link(std::vector<Edge>& edges, std::size_t a, std::size_t b) {
  if (a != b) edges.push_back(make_edge(static_cast<ClientId>(a), static_cast<ClientId>(b)));
}

}  // namespace

std::size_t grid_rows(std::size_t places) {
  std::size_t rows = 1;
  for (std::size_t divisor = 2; divisor * divisor <= places; ++divisor) {
    if (places % divisor == 0) rows = divisor;
  }
  return rows;
}

std::vector<Edge> ring_edges(std::size_t places) {
  std::vector<Edge> edges;
  for (std::size_t place = 0; place < places; ++place) link(edges, place, (place + 1) % places);
  return edges;
}

std::vector<Edge> grid_edges(std::size_t places) {
  const std::size_t columns = places / grid_rows(places);
  std::vector<Edge> edges;
  for (std::size_t place = 0; place < places; ++place) {
    if ((place + 1) % columns != 0) link(edges, place, place + 1);
    if (place + columns < places) link(edges, place, place + columns);
  }
  return edges;
}

std::vector<Edge> torus_edges(std::size_t places) {
  const std::size_t columns = places / grid_rows(places);
  std::vector<Edge> edges;
  for (std::size_t place = 0; place < places; ++place) {
    const std::size_t row_start = place - place % columns;
    link(edges, place, row_start + (place + 1) % columns);
    link(edges, place, (place + columns) % places);
  }
  return edges;
}

std::vector<Edge> exponential_edges(std::size_t places) {
  std::vector<Edge> edges;
  for (std::size_t hop = 1; hop < places; hop *= 2) {
    for (std::size_t place = 0; place < places; ++place) link(edges, place, (place + hop) % places);
  }
  return edges;
}

std::vector<Edge> full_edges(std::size_t places) {
  std::vector<Edge> edges;
  edges.reserve(places * (places - 1) / 2);
  for (std::size_t a = 0; a < places; ++a) {
    for (std::size_t b = a + 1; b < places; ++b) link(edges, a, b);
  }
  return edges;
}

}  // namespace dfrost

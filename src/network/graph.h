// Who talks to whom: an undirected simple graph over clients 0 … M−1. Immutable; neighbours are sorted, so
// that everything derived from a graph is the same at every peer that knows its edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace dfrost {

using ClientId = std::uint32_t;

// One undirected link; first < second.
struct Edge {
  ClientId first = 0;
  ClientId second = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): takes the comparison's own 0 for a pointer
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

// The same link whichever end is named first.
Edge make_edge(ClientId a, ClientId b);

class Graph {
 public:
  Graph() = default;
  // Edges in any order; one that is listed twice counts once. A loop, or an end that is not a client, is a
  // programmer's error.
  Graph(std::size_t clients, std::vector<Edge> edges);

  std::size_t clients() const { return starts_.empty() ? 0 : starts_.size() - 1; }
  const std::vector<Edge>& edges() const { return edges_; }  // sorted
  std::span<const ClientId> neighbours(ClientId client) const {
    return std::span(neighbours_).subspan(starts_[client], degree(client));
  }
  std::size_t degree(ClientId client) const { return starts_[client + 1] - starts_[client]; }
  bool linked(ClientId a, ClientId b) const;

  friend bool operator==(const Graph&, const Graph&) = default;

 private:
  std::vector<Edge> edges_;
  std::vector<std::size_t> starts_;  // clients + 1 places in neighbours_
  std::vector<ClientId> neighbours_;
};

struct DegreeRange {
  std::size_t min = 0;
  double mean = 0;
  std::size_t max = 0;
};
DegreeRange degree_range(const Graph& graph);

// The number of connected parts; an isolated client is one.
std::size_t count_components(const Graph& graph);
inline bool is_connected(const Graph& graph) { return count_components(graph) <= 1; }

// The graph of each round.
using GraphOfRound = std::function<Graph(std::uint64_t round)>;

}  // namespace dfrost

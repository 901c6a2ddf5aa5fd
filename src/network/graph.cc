#include "network/graph.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace dfrost {

Edge make_edge(ClientId a, ClientId b) { return a < b ? Edge{a, b} : Edge{b, a}; }

Graph::Graph(std::size_t clients, std::vector<Edge> edges)
    : edges_(std::move(edges)), starts_(clients + 1, 0) {
  if (!std::is_sorted(edges_.begin(), edges_.end())) std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  for (const auto& [first, second] : edges_) {
    assert(first < second && second < clients);
    ++starts_[first + 1];
    ++starts_[second + 1];
  }
  for (std::size_t client = 0; client < clients; ++client) starts_[client + 1] += starts_[client];
  neighbours_.resize(2 * edges_.size());
  // In the order of the edges a client's lower neighbours come before its higher ones, each in their order:
  // the lists come out sorted.
  auto next = starts_;
  for (const auto& [first, second] : edges_) neighbours_[next[second]++] = first;
  for (const auto& [first, second] : edges_) neighbours_[next[first]++] = second;
}

bool Graph::linked(ClientId a, ClientId b) const {
  const auto list = neighbours(a);
  return std::binary_search(list.begin(), list.end(), b);
}

DegreeRange degree_range(const Graph& graph) {
  if (graph.clients() == 0) return {};
  DegreeRange range{.min = graph.clients(), .mean = 0, .max = 0};
  for (ClientId client = 0; client < graph.clients(); ++client) {
    range.min = std::min(range.min, graph.degree(client));
    range.max = std::max(range.max, graph.degree(client));
  }
  range.mean = 2.0 * static_cast<double>(graph.edges().size()) / static_cast<double>(graph.clients());
  return range;
}

std::size_t count_components(const Graph& graph) {
  std::vector<bool> seen(graph.clients(), false);
  std::vector<ClientId> open;
  std::size_t components = 0;
  for (ClientId start = 0; start < graph.clients(); ++start) {
    if (seen[start]) continue;
    ++components;
    seen[start] = true;
    open.push_back(start);
    while (!open.empty()) {
      const ClientId client = open.back();
      open.pop_back();
      for (const ClientId neighbour : graph.neighbours(client)) {
        if (seen[neighbour]) continue;
        seen[neighbour] = true;
        open.push_back(neighbour);
      }
    }
  }
  return components;
}

}  // namespace dfrost

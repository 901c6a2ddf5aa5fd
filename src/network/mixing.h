// The Metropolis–Hastings weights of a graph: W_uv = 1/(1 + max(deg u, deg v)) for neighbours, and what is
// left of the row for the client itself. Symmetric and doubly stochastic on every undirected graph; a client
// without neighbours keeps its state (W_uu = 1). Each weight needs only the degrees of its two ends.
#pragma once

#include <span>
#include <vector>

#include "network/graph.h"

namespace dfrost {

class MixingMatrix {
 public:
  MixingMatrix() = default;
  explicit MixingMatrix(Graph graph);

  const Graph& graph() const { return graph_; }
  std::size_t clients() const { return graph_.clients(); }
  double self_weight(ClientId client) const { return self_weights_[client]; }
  // In the order of graph().neighbours(client).
  std::span<const double> neighbour_weights(ClientId client) const {
    return std::span(weights_).subspan(starts_[client], graph_.degree(client));
  }

  // (I + W)/2: half of every weight, and the rest for the client itself. Its eigenvalues are not negative.
  MixingMatrix lazy() const;

  // result = W · values, one number per client.
  void apply(std::span<const double> values, std::span<double> result) const;

 private:
  Graph graph_;
  std::vector<std::size_t> starts_;
  std::vector<double> weights_;
  std::vector<double> self_weights_;
};

}  // namespace dfrost

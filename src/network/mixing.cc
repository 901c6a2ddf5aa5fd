#include "network/mixing.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace dfrost {

MixingMatrix::MixingMatrix(Graph graph) : graph_(std::move(graph)) {
  starts_.reserve(clients());
  weights_.reserve(2 * graph_.edges().size());
  self_weights_.reserve(clients());
  for (ClientId client = 0; client < clients(); ++client) {
    starts_.push_back(weights_.size());
    double given = 0;
    for (const ClientId neighbour : graph_.neighbours(client)) {
      const auto larger = std::max(graph_.degree(client), graph_.degree(neighbour));
      weights_.push_back(1.0 / static_cast<double>(1 + larger));
      given += weights_.back();
    }
    self_weights_.push_back(1.0 - given);
  }
}

MixingMatrix MixingMatrix::lazy() const {
  MixingMatrix half = *this;
  for (double& weight : half.weights_) weight *= 0.5;
  for (double& weight : half.self_weights_) weight = 0.5 + 0.5 * weight;
  return half;
}

void MixingMatrix::apply(std::span<const double> values, std::span<double> result) const {
  assert(values.size() == clients() && result.size() == clients());
  for (ClientId client = 0; client < clients(); ++client) {
    const auto neighbours = graph_.neighbours(client);
    const auto weights = neighbour_weights(client);
    double sum = self_weights_[client] * values[client];
    for (std::size_t i = 0; i < neighbours.size(); ++i) sum += weights[i] * values[neighbours[i]];
    result[client] = sum;
  }
}

}  // namespace dfrost

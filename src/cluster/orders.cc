#include "cluster/orders.h"

namespace dfrost {

ScoredModel scored_model(const Node& node) {
  ScoredModel model{node.adapter, {}, node.state.values};
  for (const auto& part : node.state.layout.parts()) model.parts.push_back({part.name, part.shape});
  return model;
}

Node node_of(const ScoredModel& model) {
  Node node;
  node.adapter = model.adapter;
  for (const auto& part : model.parts) node.state.layout.add(part.name, part.shape);
  node.state.values = model.values;
  return node;
}

}  // namespace dfrost

// What every node knows of a round before it begins, from seed and round alone: who takes part, who talks to
// whom, with which weights. Simulator, cluster and peers compute the same plan, so that nobody has to be
// asked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "network/faults.h"
#include "network/mixing.h"
#include "run/node.h"

namespace dfrost {

struct RoundPlan {
  std::uint64_t round = 0;
  RoundNetwork network = {};
  MixingMatrix mixing = {};
  std::size_t clients = 0;   // nodes from here on are servers
  bool lazy_mixing = false;  // the weights are those of (I + W)/2

  NodeRole role_of(ClientId node) const { return node < clients ? NodeRole::client : NodeRole::server; }
  bool is_active(ClientId node) const { return network.active[node]; }
  bool has_view(ClientId node) const { return node < viewed.size() && viewed[node]; }

  std::vector<bool> viewed = {};  // whose merges are kept to be looked at; empty: nobody's
};

// Who is in the graph.
enum class Gathering {
  nobody,  // every client is alone
  peers,   // clients, by the topology
  star,    // clients around a server
};

struct PlanOptions {
  Gathering gathering = Gathering::peers;
  // Weights W whose eigenvalues do not all lie above this become (I + W)/2, whose do; −1: any will do.
  double least_eigenvalue = -1;
  TopologyOptions topology = {};
  FaultOptions faults = {};
};

class RoundPlanner {
 public:
  // Validates; a gathering of nobody does not look at topology and faults.
  RoundPlanner(const PlanOptions& options, std::size_t clients, Seed seed);

  RoundPlan plan(std::uint64_t round) const;
  // What comes before the first round: as a round 0 in which nobody is absent.
  RoundPlan plan_preparation() const;
  // The part of a plan that says who talks to whom.
  RoundNetwork network(std::uint64_t round) const;
  // With only these clients in the federation, in this round.
  RoundPlan plan(std::uint64_t round, const std::vector<bool>& present) const;

  std::size_t clients() const { return topology_.clients(); }
  std::size_t nodes() const { return clients() + (options_.gathering == Gathering::star ? 1 : 0); }
  const Topology& topology() const { return topology_; }
  // How far ahead of a node its neighbours can be: what its mailbox must keep.
  std::uint64_t rounds_ahead() const;

 private:
  RoundNetwork draw(std::uint64_t round, const std::vector<bool>& present) const;

  PlanOptions options_;
  Topology topology_;
};

}  // namespace dfrost

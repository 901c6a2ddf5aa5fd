// What every process of a run makes of its settings and data alike, before there are nodes: who holds what,
// who talks to whom, what the run is called on letters. A simulation has one, and so has each rank of a
// cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "config/config.h"
#include "data/corpus.h"
#include "data/preprocess.h"
#include "dfrost/backbone.h"
#include "network/letter.h"
#include "partition/partition.h"
#include "run/method.h"
#include "run/node.h"
#include "run/round_plan.h"

namespace dfrost {

struct Groundwork {
  // The backbone must outlive it.
  Groundwork(const RunConfig& settings, Method how, const Backbone& frozen, const Preprocessing& pictures,
             Corpus all);

  const RunConfig config;
  const Method method;
  const Backbone& backbone;
  const Preprocessing preprocessing;
  const Corpus corpus;
  const Partition partition;
  const RoundPlanner planner;
  const RunId run_id;
  const std::vector<bool> viewed;  // per client: its merges are kept to be looked at

  // With the merges to look at where the round is scored.
  RoundPlan plan_round(std::uint64_t round) const;
  // A client, or the server, which comes last, as it is before the first round.
  Node first_node(ClientId id) const;
};

}  // namespace dfrost

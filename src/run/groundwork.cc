#include "run/groundwork.h"

#include <utility>

#include "config/settings_identity.h"
#include "run/federation_parts.h"
#include "run/moments_phase.h"

namespace dfrost {

Groundwork::Groundwork(const RunConfig& settings, Method how, const Backbone& frozen,
                       const Preprocessing& pictures, Corpus all)
    : config(settings),
      method(std::move(how)),
      backbone(frozen),
      preprocessing(pictures),
      corpus(std::move(all)),
      partition(partition_for(config, corpus)),
      planner(method.network, partition.clients.size(), config.run.seed),
      run_id(dfrost::run_id(config, backbone.precision())),
      viewed(viewed_clients(partition, corpus, config.diagnostics.merge_views)) {}

RoundPlan Groundwork::plan_round(std::uint64_t round) const {
  auto plan = planner.plan(round);
  if (is_evaluated(config, round)) plan.viewed = viewed;
  return plan;
}

Node Groundwork::first_node(ClientId id) const {
  const bool is_client = id < planner.clients();
  Node node =
      make_node(config, backbone.geometry(), corpus.classes(), id, config.prompts_of(is_client ? id : 0));
  node.role = is_client ? NodeRole::client : NodeRole::server;
  node.most_prompts *= method.prompt_growth;
  if (method.frame && is_client) give_frame(*method.frame, node);
  return node;
}

}  // namespace dfrost

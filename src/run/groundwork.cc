#include "run/groundwork.h"

#include <utility>

#include "config/settings_identity.h"
#include "run/federation_parts.h"
#include "run/moments_phase.h"

namespace dfrost {
namespace {

// Shared first prompts are shared by those who begin together: not by who comes late, nor by two federations
// that have not met.
std::optional<std::uint64_t> drawer_of(const RunConfig& config, std::size_t clients, ClientId client) {
  if (config.prompts.init != PromptInit::shared || !config.method.exchanges()) return std::nullopt;
  const auto& faults = config.network.faults;
  if (faults.join_round > 1 && late_clients(faults, clients, config.run.seed)[client]) return client;
  const bool are_two = faults.meet_round > 1 && config.method.cooperation == Cooperation::peers;
  return are_two && client % 2 == 1 ? std::optional<std::uint64_t>(1)  // the first of them draws for all
                                    : std::nullopt;
}

}  // namespace

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
      make_node(config, backbone.geometry(), corpus.classes(), id, config.prompts_of(is_client ? id : 0),
                is_client ? drawer_of(config, planner.clients(), id) : std::nullopt);
  node.role = is_client ? NodeRole::client : NodeRole::server;
  node.most_prompts *= method.prompt_growth;
  if (method.frame && is_client) give_frame(*method.frame, node);
  return node;
}

}  // namespace dfrost

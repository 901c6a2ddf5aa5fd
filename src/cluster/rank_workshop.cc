#include "cluster/rank_workshop.h"

#include <algorithm>

#include "cluster/placement.h"
#include "run/mailbox_rules.h"

namespace dfrost {
namespace {

std::vector<Node> residents_of(const Groundwork& ground, const std::vector<std::size_t>& homes,
                               std::size_t rank) {
  std::vector<Node> nodes;
  for (std::size_t node = 0; node < homes.size(); ++node)
    if (homes[node] == rank) nodes.push_back(ground.first_node(static_cast<ClientId>(node)));
  return nodes;
}

// Ranks of one host share the memory that the settings give to patch embeddings.
double share_of_cache(const std::vector<RankPlace>& places, std::size_t rank) {
  return 1 / static_cast<double>(std::ranges::count(places, places[rank].host, &RankPlace::host));
}

}  // namespace

RankWorkshop::RankWorkshop(const Groundwork& ground, Communicator& ranks,
                           const std::vector<RankPlace>& places)
    : ground_(ground),
      places_(places),
      threads_(threads_of_ranks(places, ground.config.run.threads)),
      homes_(place_nodes(work_of_nodes(ground), threads_)),
      residents_(residents_of(ground, homes_, ranks.rank())),
      network_(ranks, {.homes = homes_,
                       .mailbox = mailbox_options(ground.method, ground.planner.rounds_ahead(), residents_),
                       .links = [this](Moment moment) { return links(moment); }}),
      workshop_(ground, residents_,
                {.exchange_of = [this](ClientId node) -> Exchange& { return network_.exchange_of(node); },
                 .carry = [this](Moment moment) { network_.carry(moment); },
                 .threads = threads_[ranks.rank()],
                 .cache_share = share_of_cache(places, ranks.rank())}) {}

WorkDone RankWorkshop::run_round(const RoundPlan& plan, const RoundProgressCallback& progress) {
  plan_ = &plan;
  return workshop_.run_round(plan, progress);
}

WorkDone RankWorkshop::prepare(const RoundProgressCallback& progress) {
  const auto plan = ground_.planner.plan_preparation();
  plan_ = &plan;
  return workshop_.prepare(progress);
}

// As run/inbox.h waits for letters: from every neighbour whose role speaks in this phase.
std::vector<LetterLink> RankWorkshop::links(Moment moment) const {
  const auto& phases = moment.round == 0 ? ground_.method.preparation : ground_.method.phases;
  const Phase& phase = *phases[moment.phase];
  std::vector<LetterLink> links;
  for (const auto& [a, b] : plan_->mixing.graph().edges())
    for (const auto& [sender, receiver] : {LetterLink{a, b}, LetterLink{b, a}})
      if (plan_->is_active(sender) && plan_->is_active(receiver) && phase.speaks(plan_->role_of(sender)))
        links.push_back({sender, receiver});
  return links;
}

std::vector<ClientId> RankWorkshop::nodes_at(std::size_t rank) const {
  std::vector<ClientId> nodes;
  for (std::size_t node = 0; node < homes_.size(); ++node)
    if (homes_[node] == rank) nodes.push_back(static_cast<ClientId>(node));
  return nodes;
}

std::vector<RankShare> RankWorkshop::shares() const {
  std::vector<RankShare> shares;
  for (std::size_t rank = 0; rank < places_.size(); ++rank)
    shares.push_back({places_[rank].host, threads_[rank], {}, 0});
  const auto work = work_of_nodes(ground_);
  for (std::size_t node = 0; node < homes_.size(); ++node) {
    RankShare& share = shares[homes_[node]];
    share.work += work[node];
    if (node < ground_.planner.clients()) share.clients.push_back(node);
  }
  return shares;
}

}  // namespace dfrost

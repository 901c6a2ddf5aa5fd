#include "run/round_plan.h"

#include <utility>

#include "measure/mixing_factor.h"
#include "network/mailbox_depth.h"

namespace dfrost {
namespace {

// Where nobody talks, [network] may hold what does not fit so many clients: it is not looked at. A star has
// its links from its server.
TopologyOptions topology_of(const PlanOptions& options, std::size_t clients) {
  if (options.gathering != Gathering::peers) return {.kind = TopologyKind::ring};
  options.topology.validate(clients);
  return options.topology;
}

RoundNetwork silence(const std::vector<bool>& present) {
  RoundNetwork network;
  network.graph = Graph(present.size(), {});
  network.active = present;
  return network;
}

// The server, the last node, is never absent; a client whose link to it fails is alone for the round.
RoundNetwork star(const std::vector<bool>& present, const FaultOptions& faults, Seed seed,
                  std::uint64_t round) {
  const std::size_t clients = present.size();
  faults.validate(clients);
  auto network = silence(draw_active(faults, seed, round, present));
  const auto server = static_cast<ClientId>(clients);
  std::vector<Edge> links;
  for (ClientId client = 0; client < clients; ++client) {
    if (!network.active[client]) continue;
    const bool works = !link_fails({client, server}, faults.link_failure, seed, round);
    (works ? links : network.failed).push_back({client, server});
  }
  network.graph = Graph(clients + 1, std::move(links));
  network.active.push_back(true);
  return network;
}

}  // namespace

RoundPlanner::RoundPlanner(const PlanOptions& options, std::size_t clients, Seed seed)
    : options_(options), topology_(topology_of(options, clients), clients, seed) {
  if (options.gathering != Gathering::nobody) options.faults.validate(clients);
}

RoundNetwork RoundPlanner::network(std::uint64_t round) const {
  return draw(round, std::vector<bool>(clients(), true));
}

RoundNetwork RoundPlanner::draw(std::uint64_t round, const std::vector<bool>& present) const {
  FaultOptions faults = options_.faults;
  if (round == 0) faults.active_clients = faults.late_clients = faults.meet_round = 0;
  switch (options_.gathering) {
    case Gathering::nobody: return silence(present);
    case Gathering::peers: return draw_round(topology_, faults, round, present);
    case Gathering::star: return star(present, faults, topology_.seed(), round);
  }
  return silence(present);
}

// In a star everybody waits for the server, and it for them.
std::uint64_t RoundPlanner::rounds_ahead() const {
  return options_.gathering == Gathering::peers ? dfrost::rounds_ahead(topology_, options_.faults) : 1;
}

RoundPlan RoundPlanner::plan_preparation() const { return plan(0); }

RoundPlan RoundPlanner::plan(std::uint64_t round) const {
  return plan(round, std::vector<bool>(clients(), true));
}

RoundPlan RoundPlanner::plan(std::uint64_t round, const std::vector<bool>& present) const {
  auto network = draw(round, present);
  MixingMatrix mixing(network.graph);
  // A little above the bound counts as below it: on an even ring the least eigenvalue is the bound of D²
  // itself, and rounding must not decide what peers with different CPUs do.
  constexpr double kMargin = 1e-6;
  const bool lazy =
      options_.least_eigenvalue > -1 && least_eigenvalue(mixing) <= options_.least_eigenvalue + kMargin;
  if (lazy) mixing = mixing.lazy();
  return {.round = round,
          .network = std::move(network),
          .mixing = std::move(mixing),
          .clients = clients(),
          .lazy_mixing = lazy};
}

}  // namespace dfrost

#include "network/mailbox_depth.h"

#include <algorithm>
#include <vector>

namespace dfrost {
namespace {

constexpr double kRare = 1e-6;  // so few messages may be lost
constexpr std::uint64_t kDrawnRounds = 4;

// Nothing in these depends on the round; faults may still.
bool repeats(const TopologyOptions& options) {
  return options.is_static || options.kind == TopologyKind::full || options.kind == TopologyKind::file;
}

// The share of clients with 0, 1, 2 … links that work.
std::vector<double> draw_degree_shares(const Topology& topology, const FaultOptions& faults) {
  const std::size_t clients = topology.clients();
  std::vector<double> shares(clients, 0.0);
  for (std::uint64_t round = 1; round <= kDrawnRounds; ++round) {
    const auto network = draw_round(topology, faults, round);
    for (std::size_t client = 0; client < clients; ++client)
      shares[network.graph.degree(static_cast<ClientId>(client))] += 1;
  }
  for (double& share : shares) share /= static_cast<double>(kDrawnRounds * clients);
  return shares;
}

// The share of a graph's links that work in a round.
double draw_working_share(const Topology& topology, const FaultOptions& faults) {
  std::size_t working = 0;
  for (std::uint64_t round = 1; round <= kDrawnRounds; ++round)
    working += draw_round(topology, faults, round).graph.edges().size();
  const std::size_t planned = kDrawnRounds * topology.draw(1).edges().size();
  return planned == 0 ? 1 : static_cast<double>(working) / static_cast<double>(planned);
}

// The number of steps, at most `limit`, until what is left of `share` is rare.
template <typename Step>
std::uint64_t count_steps(double share, std::uint64_t limit, Step step) {
  std::uint64_t steps = 0;
  for (; steps < limit && share > kRare; ++steps) share = step(share);
  return std::max<std::uint64_t>(steps, 1);
}

}  // namespace

// Why a lead is bounded: client u begins round t only when its neighbours' messages of round t−1 are there.
// These neighbours had begun t−1, their neighbours of t−2 had begun t−2, and so on. So u is at most k rounds
// ahead of everybody from whom one link in each of the rounds t−k … t−1, or fewer, lead to it: k rounds back
// these are bound. It can be further ahead of v only while v is not among them, and what share of the clients
// that is is followed here as k grows.
std::uint64_t rounds_ahead(const Topology& topology, const FaultOptions& faults) {
  const std::uint64_t clients = topology.clients();
  // The link over which the message comes was there in the rounds before too, and binds unless it failed.
  // That a way through others may bind as well is left out.
  if (repeats(topology.options())) {
    const double working = draw_working_share(topology, faults);
    return count_steps(1, clients, [&](double unbound) { return unbound * (1 - working); });
  }
  // Neighbours are drawn anew: a client stays unbound if it and all its neighbours of a round are. While few
  // are bound they become κ+1 times as many in a round, hence ⌈log_{κ+1} M⌉; the last are bound in one or two
  // rounds more, as long as everybody has a link.
  const auto degree_shares = draw_degree_shares(topology, faults);
  return count_steps(1 - 1 / static_cast<double>(clients), clients, [&](double unbound) {
    double still = 0;
    for (std::size_t degree = degree_shares.size(); degree-- > 0;)
      still = still * unbound + degree_shares[degree];
    return still * unbound;
  });
}

}  // namespace dfrost

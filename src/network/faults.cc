#include "network/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dfrost/error.h"

namespace dfrost {
namespace {

// What becomes of planned links between clients of which some take part.
RoundNetwork with_faults(const Graph& planned, std::vector<bool> active, const FaultOptions& options,
                         Seed seed, std::uint64_t round) {
  RoundNetwork network;
  network.active = std::move(active);
  std::vector<Edge> working;
  working.reserve(planned.edges().size());
  for (const Edge& link : planned.edges()) {
    if (!network.active[link.first] || !network.active[link.second]) {
      network.unused.push_back(link);
    } else if (link_fails(link, options.link_failure, seed, round)) {
      network.failed.push_back(link);
    } else {
      working.push_back(link);
    }
  }
  network.graph = Graph(planned.clients(), std::move(working));
  return network;
}

// Of those present, who has joined by this round.
std::vector<bool> joined(const FaultOptions& options, Seed seed, std::uint64_t round,
                         const std::vector<bool>& present) {
  if (options.late_clients == 0 || round >= options.join_round) return present;
  std::vector<bool> here = present;
  const auto late = late_clients(options, present.size(), seed);
  for (std::size_t client = 0; client < here.size(); ++client) here[client] = here[client] && !late[client];
  return here;
}

// One graph among some clients; while there are two federations one in each.
Graph draw_planned(const Topology& topology, const FaultOptions& options, std::uint64_t round,
                   const std::vector<bool>& among) {
  if (round >= options.meet_round) return topology.draw_among(among, round);
  std::vector<Edge> links;
  for (const std::size_t federation : {0, 1}) {
    std::vector<bool> members = among;
    for (std::size_t client = 0; client < members.size(); ++client)
      members[client] = members[client] && client % 2 == federation;
    const auto own = topology.draw_among(members, round).edges();
    links.insert(links.end(), own.begin(), own.end());
  }
  std::ranges::sort(links);
  return Graph(topology.clients(), std::move(links));
}

}  // namespace

std::vector<bool> late_clients(const FaultOptions& options, std::size_t clients, Seed seed) {
  std::vector<bool> late(clients, false);
  if (options.late_clients == 0) return late;
  const auto order = RandomStream(seed, "late clients").permutation(clients);
  for (std::size_t i = 0; i < std::min(options.late_clients, clients); ++i) late[order[i]] = true;
  return late;
}

// A stream per link, so that a link's fate does not depend on which others there are.
bool link_fails(Edge link, double probability, Seed seed, std::uint64_t round) {
  if (probability <= 0) return false;
  const std::uint64_t name = std::uint64_t{link.first} << 32 | link.second;
  return RandomStream(seed, "link-failure", name, round).uniform() < probability;
}

std::string_view to_string(ActiveGraph graph) { return graph == ActiveGraph::active ? "active" : "all"; }

void FaultOptions::validate(std::size_t clients) const {
  if (!(link_failure >= 0 && link_failure <= 1)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("link failure {} is not a probability", link_failure),
                "give a number from 0 to 1")
        .at("network.link_failure");
  }
  if (active_clients > clients) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} active clients of {}", active_clients, clients),
                fmt::format("give at most {}; 0 means all", clients))
        .at("network.active_clients");
  }
  if (late_clients > 0 && late_clients >= clients) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} late clients of {}", late_clients, clients),
                "leave somebody who is there from the first round")
        .at("network.late_clients");
  }
}

std::size_t RoundNetwork::absent_clients() const {
  return static_cast<std::size_t>(std::count(active.begin(), active.end(), false));
}

Graph RoundNetwork::graph_of_active() const {
  std::vector<ClientId> number(active.size());
  ClientId next = 0;
  for (std::size_t client = 0; client < active.size(); ++client) {
    number[client] = next;
    if (active[client]) ++next;
  }
  auto edges = graph.edges();
  for (Edge& edge : edges) edge = {number[edge.first], number[edge.second]};
  return Graph(next, std::move(edges));
}

std::vector<bool> draw_active(const FaultOptions& faults, Seed seed, std::uint64_t round,
                              const std::vector<bool>& present) {
  const auto here = joined(faults, seed, round, present);
  const auto there = static_cast<std::size_t>(std::count(here.begin(), here.end(), true));
  if (faults.active_clients == 0 || faults.active_clients >= there) return here;
  std::vector<bool> active(present.size(), false);
  std::size_t chosen = 0;
  for (const std::size_t client : RandomStream(seed, "participation", 0, round).permutation(present.size())) {
    if (chosen == faults.active_clients) break;
    if (!here[client]) continue;
    active[client] = true;
    ++chosen;
  }
  return active;
}

RoundNetwork apply_faults(const Graph& planned, const FaultOptions& options, Seed seed, std::uint64_t round) {
  options.validate(planned.clients());
  const std::vector<bool> everybody(planned.clients(), true);
  return with_faults(planned, draw_active(options, seed, round, everybody), options, seed, round);
}

RoundNetwork draw_round(const Topology& topology, const FaultOptions& faults, std::uint64_t round) {
  return draw_round(topology, faults, round, std::vector<bool>(topology.clients(), true));
}

RoundNetwork draw_round(const Topology& topology, const FaultOptions& faults, std::uint64_t round,
                        const std::vector<bool>& present) {
  faults.validate(topology.clients());
  auto active = draw_active(faults, topology.seed(), round, present);
  const bool over_all = faults.active_graph == ActiveGraph::all;
  const auto here = over_all ? joined(faults, topology.seed(), round, present) : active;
  const Graph planned = draw_planned(topology, faults, round, here);
  return with_faults(planned, std::move(active), faults, topology.seed(), round);
}

}  // namespace dfrost

#include "network/topology.h"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>

#include "base/quote.h"
#include "base/suggest.h"
#include "dfrost/error.h"
#include "network/edge_list.h"
#include "network/lattice.h"
#include "network/random_graph.h"

namespace dfrost {
namespace {

[[noreturn]] void refuse(const std::string& message, std::string hint) {
  throw Error(ErrorCode::invalid_argument, message, std::move(hint)).at("network.degree");
}

bool has_places(TopologyKind kind) {
  return kind == TopologyKind::ring || kind == TopologyKind::grid || kind == TopologyKind::torus ||
         kind == TopologyKind::exponential;
}

std::vector<Edge> place_edges(TopologyKind kind, std::size_t places) {
  switch (kind) {
    case TopologyKind::ring: return ring_edges(places);
    case TopologyKind::grid: return grid_edges(places);
    case TopologyKind::torus: return torus_edges(places);
    default: return exponential_edges(places);
  }
}

}  // namespace

std::string_view to_string(TopologyKind kind) {
  switch (kind) {
    case TopologyKind::ring: return "ring";
    case TopologyKind::grid: return "grid";
    case TopologyKind::torus: return "torus";
    case TopologyKind::exponential: return "exponential";
    case TopologyKind::erdos_renyi: return "erdos-renyi";
    case TopologyKind::regular: return "regular";
    case TopologyKind::full: return "full";
    case TopologyKind::file: return "file";
  }
  return "unknown";
}

TopologyKind parse_topology_kind(std::string_view name) {
  std::vector<std::string> names;
  for (const auto kind : kTopologyKinds) {
    if (name == to_string(kind)) return kind;
    names.emplace_back(to_string(kind));
  }
  const auto near = nearest(name, names);
  throw Error(ErrorCode::invalid_argument, fmt::format("there is no topology {}", quote_name(name)),
              near ? fmt::format("did you mean '{}'?", *near)
                   : fmt::format("the topologies are {}", fmt::join(names, ", ")))
      .at("network.topology");
}

void TopologyOptions::validate(std::size_t clients) const {
  if (clients == 0 || clients > std::numeric_limits<ClientId>::max()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("a network of {} clients", clients),
                "a federation has at least one client");
  }
  if (kind == TopologyKind::file && file.empty()) {
    throw Error(ErrorCode::invalid_argument, "topology 'file' without a file",
                "name a file with two client numbers per line")
        .at("network.file");
  }
  if (clients == 1 || (kind != TopologyKind::regular && kind != TopologyKind::erdos_renyi)) return;
  if (degree == 0) refuse("degree 0 links nobody", "give a degree of at least 1");
  if (degree >= clients) {
    refuse(fmt::format("degree {} in a network of {} clients: each has only {} others", degree, clients,
                       clients - 1),
           fmt::format("give a degree of at most {}, or topology 'full'", clients - 1));
  }
  if (kind == TopologyKind::regular && degree % 2 == 1 && clients % 2 == 1) {
    refuse(fmt::format("no graph of {0} clients has degree {1} everywhere: {0}·{1} ends of links is odd",
                       clients, degree),
           fmt::format("give an even degree, such as {}, or an even number of clients", degree + 1));
  }
}

Topology::Topology(TopologyOptions options, std::size_t clients, Seed seed)
    : options_(std::move(options)), clients_(clients), seed_(seed) {
  options_.validate(clients);
  if (options_.kind == TopologyKind::file) listed_ = read_edge_list(options_.file, clients);
}

Graph Topology::draw(std::uint64_t round) const {
  if (clients_ == 1) return Graph(1, {});
  if (has_places(options_.kind)) {
    const auto client_at = placement(round).client_at;
    auto edges = place_edges(options_.kind, clients_);
    for (Edge& edge : edges) edge = make_edge(client_at[edge.first], client_at[edge.second]);
    return Graph(clients_, std::move(edges));
  }
  RandomStream random(seed_, "topology", 0, drawn_round(round));
  switch (options_.kind) {
    case TopologyKind::erdos_renyi:
      return Graph(clients_, erdos_renyi_edges(clients_, options_.degree, random));
    case TopologyKind::regular:
      return Graph(clients_, random_regular_edges(clients_, options_.degree, random));
    case TopologyKind::file: return Graph(clients_, listed_);
    default: return Graph(clients_, full_edges(clients_));
  }
}

Placement Topology::placement(std::uint64_t round) const {
  Placement placement;
  const bool flat = options_.kind == TopologyKind::grid || options_.kind == TopologyKind::torus;
  placement.rows = flat ? grid_rows(clients_) : 1;
  placement.columns = clients_ / placement.rows;
  placement.client_at.resize(clients_);
  for (std::size_t place = 0; place < clients_; ++place) {
    placement.client_at[place] = static_cast<ClientId>(place);
  }
  if (has_places(options_.kind)) {
    RandomStream random(seed_, "topology", 0, drawn_round(round));
    random.shuffle(std::span(placement.client_at));
  }
  return placement;
}

}  // namespace dfrost

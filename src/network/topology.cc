#include "network/topology.h"

#include <fmt/format.h>

#include <algorithm>
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

// The largest up to `degree` that all of so many places can have; where that would be none at all, two.
std::size_t regular_degree(std::size_t degree, std::size_t places) {
  degree = std::min(degree, places - 1);
  if (degree % 2 == 0 || places % 2 == 0) return degree;
  return degree > 1 ? degree - 1 : 2;
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
  throw Error(ErrorCode::invalid_argument, fmt::format("there is no topology {}", quote_name(name)),
              did_you_mean(name, names, fmt::format("the topologies are {}", fmt::join(names, ", "))))
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

Graph Topology::draw(std::uint64_t round) const { return draw_over(placement(round).client_at, round); }

Graph Topology::draw_among(const std::vector<bool>& active, std::uint64_t round) const {
  const auto is_absent = [&](ClientId client) { return !active[client]; };
  if (options_.is_static || options_.kind == TopologyKind::file) {
    auto edges = draw(round).edges();
    std::erase_if(edges, [&](const Edge& edge) { return is_absent(edge.first) || is_absent(edge.second); });
    return Graph(clients_, std::move(edges));
  }
  auto client_at = placement(round).client_at;
  std::erase_if(client_at, is_absent);
  return draw_over(client_at, round);
}

// The graph over so many places, with the clients that stand there.
Graph Topology::draw_over(std::span<const ClientId> client_at, std::uint64_t round) const {
  if (options_.kind == TopologyKind::file) return Graph(clients_, listed_);
  auto edges = edges_among(client_at.size(), round);
  for (Edge& edge : edges) edge = make_edge(client_at[edge.first], client_at[edge.second]);
  return Graph(clients_, std::move(edges));
}

std::vector<Edge> Topology::edges_among(std::size_t places, std::uint64_t round) const {
  if (places < 2) return {};
  if (has_places(options_.kind)) return place_edges(options_.kind, places);
  RandomStream random(seed_, "topology", 0, drawn_round(round));
  switch (options_.kind) {
    case TopologyKind::erdos_renyi:
      return erdos_renyi_edges(places, std::min(options_.degree, places - 1), random);
    case TopologyKind::regular:
      return random_regular_edges(places, regular_degree(options_.degree, places), random);
    default: return full_edges(places);
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

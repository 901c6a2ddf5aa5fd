// The graph of a round, from (seed, round) alone: every peer draws the same one without asking anybody, on
// any machine (integer arithmetic and exact comparisons only). Spec: paper, appendix "Network Topologies".
// A Topology is immutable and may be shared between threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "network/graph.h"

namespace dfrost {

enum class TopologyKind {
  ring,         // a cycle; who stands where is permuted
  grid,         // rows × columns, rows the largest divisor of M not above √M; permuted
  torus,        // the grid with its borders joined; permuted
  exponential,  // places 1, 2, 4, 8 … apart on a cycle; permuted
  erdos_renyi,  // each pair with probability degree / (M − 1)
  regular,      // random, every client with exactly `degree` neighbours
  full,         // every pair
  file,         // the links listed in a file, the same in every round
};
inline constexpr std::array kTopologyKinds = {
    TopologyKind::ring,        TopologyKind::grid,    TopologyKind::torus, TopologyKind::exponential,
    TopologyKind::erdos_renyi, TopologyKind::regular, TopologyKind::full,  TopologyKind::file};

std::string_view to_string(TopologyKind kind);            // "erdos-renyi"
TopologyKind parse_topology_kind(std::string_view name);  // unknown: an Error with the nearest name

struct TopologyOptions {
  TopologyKind kind = TopologyKind::regular;
  // Neighbours per client: exactly for regular, on average for erdos-renyi; the others do not look at it.
  std::size_t degree = 5;
  // One graph drawn from the seed for all rounds, instead of a new one each round.
  bool is_static = false;
  // For TopologyKind::file: two client numbers per line, # begins a comment.
  std::filesystem::path file = {};

  // Throws (invalid_argument) where no such graph exists. A federation of one has no links whatever the kind.
  void validate(std::size_t clients) const;
};

// Where the clients of a round stand: rows × columns places (one row: a cycle), client_at[place].
struct Placement {
  std::size_t rows = 1;
  std::size_t columns = 0;
  std::vector<ClientId> client_at;
};

class Topology {
 public:
  // Validates, and reads the file where there is one.
  Topology(TopologyOptions options, std::size_t clients, Seed seed);

  Graph draw(std::uint64_t round) const;
  // The same among some of the clients alone, who stand closer together: a ring of those, a random graph of
  // those. Where they are too few for the degree, it is the largest that there is among them. A file's and a
  // static graph have their links given, and lose those of the others.
  Graph draw_among(const std::vector<bool>& active, std::uint64_t round) const;

  // The places that ring, grid, torus and exponential are built on; the other kinds stand in a cycle by
  // number. For drawing.
  Placement placement(std::uint64_t round) const;

  const TopologyOptions& options() const { return options_; }
  std::size_t clients() const { return clients_; }
  Seed seed() const { return seed_; }

 private:
  std::uint64_t drawn_round(std::uint64_t round) const { return options_.is_static ? 0 : round; }
  Graph draw_over(std::span<const ClientId> client_at, std::uint64_t round) const;
  std::vector<Edge> edges_among(std::size_t places, std::uint64_t round) const;

  TopologyOptions options_;
  std::size_t clients_;
  Seed seed_;
  std::vector<Edge> listed_;  // of the file
};

}  // namespace dfrost

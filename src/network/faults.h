// What goes wrong with a round's graph, from (seed, round) alone, so that every peer knows it without asking:
// links that fail (both directions together) and clients that do not take part (they keep their state, and
// neither train, send nor receive). Mixing weights are to be taken on the graph that remains: its rows sum to
// one, and nobody waits for a message that will not come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "network/topology.h"

namespace dfrost {

// Where some clients are absent, whom the round's graph is drawn over.
enum class ActiveGraph {
  active,  // those that take part: few active clients still have their neighbours
  all,     // everybody, and the links of absent ones go unused
};
std::string_view to_string(ActiveGraph graph);

struct FaultOptions {
  // Each link fails in each round with this probability.
  double link_failure = 0;
  // So many clients, chosen anew each round, take part; 0: all of them.
  std::size_t active_clients = 0;
  ActiveGraph active_graph = ActiveGraph::active;
  // So many clients, drawn once, are not there before round `join_round`.
  std::size_t late_clients = 0;
  std::size_t join_round = 0;
  // Before this round, clients of even and of odd numbers are two federations with no link between them; 0:
  // there is one from the start.
  std::size_t meet_round = 0;

  // Throws (invalid_argument) for no probability, more active clients than clients, or nobody who is there
  // from the start.
  void validate(std::size_t clients) const;
};

// Who comes late, from the seed alone; of fewer late clients all are among those of more.
std::vector<bool> late_clients(const FaultOptions& options, std::size_t clients, Seed seed);

// Whether a link fails, from (seed, round, link) alone.
bool link_fails(Edge link, double probability, Seed seed, std::uint64_t round);

// The network of one round.
struct RoundNetwork {
  Graph graph;               // the links that work, between clients that take part
  std::vector<bool> active;  // per client
  std::vector<Edge> failed;  // links between active clients that failed
  std::vector<Edge> unused;  // links with an absent client at an end: only with ActiveGraph::all

  std::size_t planned_links() const { return graph.edges().size() + failed.size() + unused.size(); }
  std::size_t absent_clients() const;
  // Those that take part alone, numbered anew from 0: absent ones, whom nothing reaches, hide how well the
  // others mix.
  Graph graph_of_active() const;
};

// Whether a link fails depends on (seed, round, link) alone, and a link that fails at one probability fails
// at every higher one; likewise the active clients of a smaller number are among those of a larger.
RoundNetwork apply_faults(const Graph& planned, const FaultOptions& options, Seed seed, std::uint64_t round);

// The round's graph with its faults.
RoundNetwork draw_round(const Topology& topology, const FaultOptions& faults, std::uint64_t round);
// The same among those clients that are in the federation at all in this round, which may be fewer than the
// topology has places for; where all are, it is the same graph.
RoundNetwork draw_round(const Topology& topology, const FaultOptions& faults, std::uint64_t round,
                        const std::vector<bool>& present);
// Without links, only who takes part: of those present who have joined.
std::vector<bool> draw_active(const FaultOptions& faults, Seed seed, std::uint64_t round,
                              const std::vector<bool>& present);

}  // namespace dfrost

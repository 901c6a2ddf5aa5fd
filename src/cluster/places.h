// Where the ranks of a job are, and what the launcher lets each of them use.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cluster/packing.h"
#include "network/mpi/communicator.h"
#include "run/workforce.h"

namespace dfrost {

struct RankPlace {
  std::string host;
  int process = 0;                 // its id there
  std::vector<std::size_t> cores;  // that it may run on
  std::string cpu;
};

template <typename A>
void pack_fields(A& archive, RankPlace& place) {
  auto& [host, process, cores, cpu] = place;
  archive(host, process, cores, cpu);
}

RankPlace this_place();
// Of all ranks, at all ranks, which call it at once.
std::vector<RankPlace> gather_places(const Communicator& ranks);

// Of each rank. `asked`: run.threads; 0: all cores that the launcher gave a rank, and a fair part of them
// where it gave the same ones to several.
std::vector<std::size_t> threads_of_ranks(const std::vector<RankPlace>& places, std::size_t asked);

// Ranks with more threads than cores, and ranks on different CPUs, whose last bits may differ.
std::vector<Workforce::Doubt> doubts_about(const std::vector<RankPlace>& places,
                                           const std::vector<std::size_t>& threads);

// Whether its process is there; only of a rank on this host.
bool is_alive(const RankPlace& place);

}  // namespace dfrost

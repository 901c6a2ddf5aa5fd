#include "cluster/places.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "kernels/cpu.h"

namespace dfrost {
namespace {

std::vector<std::size_t> allowed_cores() {
  cpu_set_t allowed;
  std::vector<std::size_t> cores;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  if (cores.empty()) cores.push_back(0);
  return cores;
}

bool share_cores(const RankPlace& a, const RankPlace& b) { return a.host == b.host && a.cores == b.cores; }

std::size_t ranks_beside(const std::vector<RankPlace>& places, const RankPlace& place) {
  return static_cast<std::size_t>(
      std::ranges::count_if(places, [&](const RankPlace& other) { return share_cores(place, other); }));
}

}  // namespace

RankPlace this_place() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return {name.data(), ::getpid(), allowed_cores(), cpu_summary()};
}

std::vector<RankPlace> gather_places(const Communicator& ranks) {
  RankPlace own = this_place();
  std::vector<RankPlace> places;
  for (const auto& bytes : ranks.gather_everywhere(pack(own))) places.push_back(unpack<RankPlace>(bytes));
  return places;
}

std::vector<std::size_t> threads_of_ranks(const std::vector<RankPlace>& places, std::size_t asked) {
  std::vector<std::size_t> threads;
  for (const auto& place : places)
    threads.push_back(asked > 0 ? asked
                                : std::max<std::size_t>(1, place.cores.size() / ranks_beside(places, place)));
  return threads;
}

std::vector<Workforce::Doubt> doubts_about(const std::vector<RankPlace>& places,
                                           const std::vector<std::size_t>& threads) {
  std::vector<Workforce::Doubt> doubts;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const RankPlace& place = places[rank];
    const std::size_t beside = ranks_beside(places, place);
    if (threads[rank] * beside <= place.cores.size()) continue;
    const std::string who = beside == 1 ? fmt::format("rank {} has", rank)
                                        : fmt::format("rank {} and {} more share", rank, beside - 1);
    doubts.push_back({fmt::format("{} {} core{} of {} for {} thread{} each", who, place.cores.size(),
                                  place.cores.size() == 1 ? "" : "s", place.host, threads[rank],
                                  threads[rank] == 1 ? "" : "s"),
                      beside > 1
                          ? "fewer ranks or threads (run.threads) would be faster"
                          : fmt::format("Open MPI binds a rank to one core unless told otherwise: mpirun "
                                        "--map-by slot:PE={}, or fewer threads (run.threads)",
                                        threads[rank])});
    break;  // the others are as it is
  }
  const auto other =
      std::ranges::find_if(places, [&](const RankPlace& place) { return place.cpu != places.front().cpu; });
  if (other != places.end())
    doubts.push_back(
        {fmt::format(
             "ranks run on different CPUs ({} at rank 0, {} at rank {}): last bits of a client's values "
             "depend on which one it lives on",
             places.front().cpu, other->cpu, other - places.begin()),
         "for the bytes of one machine, take nodes of one kind"});
  return doubts;
}

// A process that has ended and that nobody has asked about yet is still listed.
bool is_alive(const RankPlace& place) {
  std::ifstream status(fmt::format("/proc/{}/stat", place.process));
  std::string text;
  if (!std::getline(status, text)) return false;
  const auto state = text.rfind(") ");
  return state != std::string::npos && text.size() > state + 2 && text[state + 2] != 'Z' &&
         text[state + 2] != 'X';
}

}  // namespace dfrost

// How a peer that was left behind, or has no state yet, comes to where the others are.
#include <fmt/format.h>

#include <algorithm>

#include "peer/peer_run.h"
#include "peer/rejoin.h"

namespace dfrost {

std::optional<std::uint64_t> PeerRun::Impl::left_behind() const {
  return round_to_join(parts.self, done + 1, others(),
                       [&](std::uint64_t round) { return roster.plan(round).network.graph; });
}

// To where the others are, if they went on without this one.
void PeerRun::Impl::catch_up() {
  const auto target = left_behind();
  if (has_state) {
    if (target) jump_to(std::min(*target, rounds));
    return;
  }
  const std::uint64_t from = std::max(target.value_or(1), roster.member(parts.self).from_round);
  if (from > 1) adopt_from(std::min(from, rounds));
}

// The rounds before `round` are over for this member. Saved at once: what it sends from there on is of this
// state in that round, also after a stop.
void PeerRun::Impl::jump_to(std::uint64_t round) {
  if (round <= done + 1) return;
  notes.on_note(fmt::format("left behind: from round {} to round {}, where the others are", done, round));
  RoundArrivals arrivals{.round = round - 1};
  arrivals.jumped_from = done;
  reporter->change([](PeerStatus& status) { ++status.jumps; });
  files->skip_to(round - 1);
  end_round(arrivals);
}

// Listens, round after round, until a neighbour's state is there to begin with.
void PeerRun::Impl::adopt_from(std::uint64_t round) {
  for (; round <= rounds; ++round) {
    set_stage(PeerStage::adopt, round);
    const auto whose = node.adopt(roster.plan(round), run_id, *exchange);
    if (!whose) {
      if (const auto target = left_behind()) round = std::max(round, std::min(*target, rounds) - 1);
      continue;
    }
    notes.on_note(
        fmt::format("no state of its own: begins with that of {} in round {}", roster.name(*whose), round));
    RoundArrivals arrivals{.round = round};
    arrivals.adopted = *whose;
    reporter->change([](PeerStatus& status) { ++status.adoptions; });
    files->skip_to(round);
    end_round(arrivals);
    return;
  }
  notes.on_warning("nobody had a state to begin with", "the adapter is that of an untrained member");
  files->skip_to(rounds);
  end_round({.round = rounds});
}

}  // namespace dfrost

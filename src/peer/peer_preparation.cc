// What a method does before its first round: a round 0 of several phases, each of which is saved, so that a
// process that was stopped goes on with the very letters that others may have. Members keep their letters of
// it for good: whoever starts late, or has lost its state, prepares by them before it adopts a state.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "peer/peer_impl.h"
#include "records/record_file.h"

namespace dfrost {

void PeerRun::Impl::prepare() {
  if (is_prepared()) return;
  const auto plan = roster.plan_preparation(parts.self);
  if (roster.member(parts.self).from_round > 1)
    notes.on_note("joined later: its head's coordinates are made of its own pictures alone");
  while (!is_prepared()) {
    require_going_on();
    set_stage_of_preparation();
    auto arrivals =
        node.prepare(plan, run_id, *exchange, [this](const RoundProgress& now) { on_progress(now); });
    end_phase(arrivals);
  }
  log.write(fmt::format("{} exchanges of moments before the first round", method.preparation.size()));
}

// Where the others are already beyond it, nobody should wait for this one.
void PeerRun::Impl::set_stage_of_preparation() {
  const auto target = left_behind();
  const std::uint64_t from = std::max(target.value_or(1), roster.member(parts.self).from_round);
  if (from > 1)
    set_stage(PeerStage::adopt, std::min(from, rounds));
  else
    set_stage(PeerStage::train, 0);
}

// As a round ends: who came, then what the next phase goes on from. Its letters come before both.
void PeerRun::Impl::end_phase(RoundArrivals& arrivals) {
  correct_reasons(arrivals);
  count_missing(arrivals);
  exchange->sent().save(parts.folder / "letters", 0, roster.rounds_ahead(rounds) + 1);
  append_lines(parts.folder / kArrivalsFile, std::array{to_json(arrivals).dump()});
  saver->after_round(files->totals(), node.state());
}

}  // namespace dfrost

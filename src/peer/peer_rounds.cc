// The steps of a round, and how a site comes to the round that the others are in.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/file.h"
#include "base/stopwatch.h"
#include "peer/peer_impl.h"
#include "peer/rejoin.h"
#include "records/record_file.h"
#include "run/federation_parts.h"

namespace dfrost {

// A run begins when a quorum is linked. Who comes later, or comes back, looks for the others for as long as
// it takes to say that somebody is gone.
void PeerRun::Impl::wait_for_company() {
  const std::uint64_t next = done + 1;
  const auto present = parts.federation.present_in(has_state ? next : 1);
  const auto began_looking = Clock::now();
  wait_until([&]() -> std::string {
    const auto views = others();
    std::vector<std::string> absent;
    std::size_t linked = 1, silent = 0;
    for (const auto& view : views) {
      if (view.number >= present.size() || !present[view.number]) continue;
      linked += view.linked ? 1 : 0;
      silent += view.linked && !view.pulse ? 1 : 0;
      if (!view.linked) absent.push_back(view.name);
    }
    const auto all = static_cast<std::size_t>(std::ranges::count(present, true));
    const std::size_t quorum = parts.federation.quorum == 0 ? all : std::min(parts.federation.quorum, all);
    const bool graced = seconds_since(began_looking) > options.patience.grace_seconds();
    auto missing = fmt::format("{} of {} members linked; not {}", linked, all, fmt::join(absent, ", "));
    if (!has_state && linked < quorum) return missing;
    if (!graced && !absent.empty()) return missing;
    return !graced && silent > 0 ? "the others to say where they are" : "";
  });
}

void PeerRun::Impl::wait_for_enough() {
  if (options.min_present < 2) return;
  wait_until([&]() -> std::string {
    const auto views = others();
    const auto alive = 1 + static_cast<std::size_t>(std::ranges::count_if(views, &PeerView::alive));
    if (alive >= options.min_present) return "";
    return fmt::format("{} of {} members alive, min_present = {}", alive, views.size() + 1,
                       options.min_present);
  });
}

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

// A round is over: who came first, then its record, then what the next one goes on from.
void PeerRun::Impl::end_round(const RoundArrivals& arrivals) {
  append_lines(parts.folder / kArrivalsFile, std::array{to_json(arrivals).dump()});
  saver->after_round(files->totals(), node.state());
  done = arrivals.round;
  has_state = true;
}

void PeerRun::Impl::correct_reasons(RoundArrivals& arrivals) const {
  for (std::size_t phase = 0; phase < arrivals.phases.size(); ++phase)
    for (auto& missing : arrivals.phases[phase].missing) {
      const auto why = exchange->given_up(
          {arrivals.round, static_cast<std::uint32_t>(arrivals.first_phase + phase)}, missing.sender);
      if (!why.empty() && missing.why == to_string(Absence::deadline)) missing.why = why;
    }
}

void PeerRun::Impl::count_missing(const RoundArrivals& arrivals) {
  reporter->change([&](PeerStatus& status) {
    for (const auto& phase : arrivals.phases)
      for (const auto& missing : phase.missing) {
        ++status.missing_messages;
        for (auto& member : status.members)
          if (member.number == missing.sender) ++member.missing_messages;
      }
  });
}

void PeerRun::Impl::score(RoundRecord& record) {
  if (!is_evaluated(parts.config, record.round) && record.round < rounds) return;
  set_stage(PeerStage::evaluate, record.round);
  const Stopwatch evaluating;
  record.evaluation = node.evaluate();
  record.seconds.evaluate = evaluating.seconds();
}

void PeerRun::Impl::do_round(std::uint64_t round) {
  const auto round_began = Clock::now();
  auto plan = roster.plan(round);
  round_under_way = round;
  if (parts.config.diagnostics.merge_views > 0 && is_evaluated(parts.config, round)) {
    plan.viewed.assign(plan.clients, false);
    plan.viewed[parts.self] = true;
  }
  const bool takes_part = plan.is_active(parts.self);
  reporter->change([&](PeerStatus& status) {
    for (auto& member : status.members) {
      const auto neighbours =
          takes_part ? plan.mixing.graph().neighbours(parts.self) : std::span<const ClientId>();
      member.neighbour = std::ranges::find(neighbours, member.number) != neighbours.end();
    }
  });
  auto outcome =
      node.run_round(plan, run_id, *exchange, [this](const RoundProgress& now) { on_progress(now); });
  correct_reasons(outcome.arrivals);
  count_missing(outcome.arrivals);
  score(outcome.record);
  if (takes_part) exchange->sent().save(parts.folder / "letters", round, roster.rounds_ahead(rounds) + 1);
  files->add(outcome.record);
  end_round(outcome.arrivals);
  files->summarize();
  round_seconds += seconds_since(round_began);
  ++rounds_here;
  record_round(outcome);
}

void PeerRun::Impl::record_round(SiteNode::Outcome& outcome) {
  const RoundRecord& record = outcome.record;
  log.write(describe_round(record));
  reporter->change([&](PeerStatus& status) {
    status.done = done;
    status.usual_round_seconds = round_seconds / static_cast<double>(rounds_here);
    status.refused_messages += record.refused_messages;
    status.sent_bytes = exchange->counts().sent_bytes;
    status.received_bytes = exchange->counts().received_bytes;
    if (record.images > 0) status.train_loss = record.train_loss;
    if (record.evaluation) status.accuracy = record.evaluation->accuracy_masked.mean;
    if (!outcome.merged) return;
    ++status.merges;
    status.last_merge = seconds_since_1970();
    status.last_merge_round = record.round;
  });
  observer.on_round(record, reporter->now());
  reporter->tell_soon();
}

}  // namespace dfrost

// One round of a peer, and what is written when it is over.
#include <algorithm>
#include <array>

#include "base/stopwatch.h"
#include "peer/peer_run.h"
#include "records/record_file.h"
#include "run/federation_parts.h"

namespace dfrost {

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

void PeerRun::Impl::correct_reasons(RoundArrivals& arrivals) const {
  for (std::size_t phase = 0; phase < arrivals.phases.size(); ++phase)
    for (auto& missing : arrivals.phases[phase].missing) {
      const auto why =
          exchange->given_up({arrivals.round, static_cast<std::uint32_t>(phase)}, missing.sender);
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

// A round is over: who came first, then its record, then what the next one goes on from.
void PeerRun::Impl::end_round(const RoundArrivals& arrivals) {
  append_lines(parts.folder / kArrivalsFile, std::array{to_json(arrivals).dump()});
  saver->after_round(files->totals(), node.state());
  done = arrivals.round;
  has_state = true;
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

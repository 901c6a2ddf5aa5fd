// Whom a peer waits for, when it does not go on, and how the others learn where it is.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "dfrost/error.h"
#include "peer/peer_run.h"
#include "peer/sent_letters.h"

namespace dfrost {
namespace {

constexpr std::chrono::milliseconds kLook{50};
constexpr std::chrono::milliseconds kTellProgressEvery{500};

}  // namespace

void PeerRun::Impl::require_going_on() const {
  if (company != nullptr && company->has_twin())
    throw Error(ErrorCode::failed_precondition, "another process with this site's key is running",
                "stop it, or this one: a key is for one site, and a copy of its folder is the same site");
  if (options.stopped && options.stopped())
    throw Error(ErrorCode::cancelled,
                "stopped; 'dfrost peer start' goes on from the last round that is done");
}

void PeerRun::Impl::tell() {
  if (company == nullptr) return;
  told_at = Clock::now().time_since_epoch().count();
  company->tell({.round = round_under_way,
                 .phase = exchange ? exchange->moment().phase : 0,
                 .stage = static_cast<std::uint32_t>(stage.load()),
                 .progress = progress,
                 .revision = parts.federation.revision});
}

void PeerRun::Impl::set_stage(PeerStage next, std::uint64_t round) {
  const double seconds = seconds_since(stage_began);
  const std::string before(to_string(stage.load()));
  stage_began = Clock::now();
  stage = next;
  round_under_way = round;
  ++progress;
  if (reporter)
    reporter->change([&](PeerStatus& status) {
      status.stage_seconds[before] += seconds;
      status.stage = to_string(next);
      status.progress = progress;
      status.round = round;
      status.done = done;
    });
  tell();
}

// From any thread that works.
void PeerRun::Impl::on_picture() {
  ++progress;
  const auto last = Clock::time_point(Clock::duration(told_at.load()));
  if (Clock::now() - last < kTellProgressEvery) return;
  tell();
  reporter->change([&](PeerStatus& status) { status.progress = progress; });
  require_going_on();
}

void PeerRun::Impl::on_progress(const RoundProgress& now) {
  if (now.done != 0) return;
  set_stage(now.stage == "train" ? PeerStage::train : PeerStage::exchange, round_under_way);
  require_going_on();
}

void PeerRun::Impl::while_waiting(std::span<const ClientId> missing) {
  ++progress;
  const auto last = Clock::time_point(Clock::duration(told_at.load()));
  if (Clock::now() - last > kTellProgressEvery) tell();
  if (missing.empty() && stage == PeerStage::exchange) set_stage(PeerStage::merge, round_under_way);
  std::vector<std::string> names;
  for (const ClientId peer : missing) names.push_back(roster.name(peer));
  reporter->change([&](PeerStatus& status) {
    status.waiting_for = fmt::format("{}", fmt::join(names, ", "));
    status.progress = progress;
    for (auto& member : status.members) {
      member.awaited = std::ranges::find(missing, member.number) != missing.end();
      member.usual_seconds = exchange->usual_seconds(member.number);
    }
  });
  if (!missing.empty()) require_going_on();
}

void PeerRun::Impl::note_letters(std::uint64_t round) const {
  if (round > done) note_speaking(parts.folder / "letters", round);  // those of earlier ones are sent again
}

// Until there is no reason to wait any more; the reason is shown meanwhile.
void PeerRun::Impl::wait_until(const std::function<std::string()>& why_not_yet) {
  std::string shown;
  for (std::string why; !(why = why_not_yet()).empty();) {
    require_going_on();
    if (why != shown) {
      log.write("waiting: " + why);
      reporter->change([&](PeerStatus& status) { status.waiting_for = why; });
      shown = why;
    }
    reporter->change([&](PeerStatus& status) { status.progress = progress; });
    ++progress;
    std::this_thread::sleep_for(kLook);
  }
  reporter->change([](PeerStatus& status) { status.waiting_for.clear(); });
}

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

}  // namespace dfrost

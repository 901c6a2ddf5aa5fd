#include "peer/patient_exchange.h"

#include <algorithm>

namespace dfrost {
namespace {

// How often the others' pulses are looked at; a letter that comes ends the wait at once.
constexpr std::chrono::milliseconds kLookEvery{100};

bool says_the_same(const std::optional<Pulse>& a, const std::optional<Pulse>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->round == b->round && a->phase == b->phase && a->stage == b->stage && a->progress == b->progress;
}

}  // namespace

void PatientExchange::begin(Moment moment) {
  if (moment.round != moment_.round) {
    given_up_.clear();
    sent_.clear();
  }
  moment_ = moment;
  watched_.clear();
  below_.begin(moment);
}

void PatientExchange::send(ClientId peer, SharedBytes message) {
  if (before_sending_ && sent_.empty()) before_sending_(moment_.round);
  sent_.note(moment_, peer, message);
  below_.send(peer, std::move(message));
}

Verdict PatientExchange::verdict_on(const PeerView& view, Clock::time_point since, Clock::time_point now) {
  auto [place, is_new] = watched_.try_emplace(view.number, Watch{view.pulse, since, {}, false});
  Watch& watch = place->second;
  if (!is_new && !says_the_same(watch.pulse, view.pulse)) watch.changed = now;
  watch.pulse = view.pulse;
  const bool is_past = view.pulse && is_beyond(*view.pulse, moment_);
  if (is_past && !watch.is_beyond) watch.passed = now;
  watch.is_beyond = is_past;
  const auto seconds = [&](Clock::time_point from) {
    return std::chrono::duration<double>(now - from).count();
  };
  return judge({.moment = moment_,
                .pulse = view.pulse,
                .waited_seconds = seconds(since),
                .unchanged_seconds = seconds(watch.changed),
                .passed_seconds = is_past ? seconds(watch.passed) : 0,
                .own_bound = times_[view.number].bound(options_)},
               options_);
}

std::vector<ClientId> PatientExchange::still_awaited(const std::vector<ClientId>& missing,
                                                     Clock::time_point since) {
  const auto now = Clock::now();
  std::vector<ClientId> awaited;
  const auto views = company_.members();
  for (const ClientId peer : missing) {
    const auto view = std::ranges::find(views, peer, &PeerView::number);
    const Verdict verdict = view == views.end() ? Verdict::wait : verdict_on(*view, since, now);
    if (verdict == Verdict::wait) {
      awaited.push_back(peer);
    } else {
      given_up_.try_emplace({moment_, peer}, verdict);
    }
  }
  return awaited;
}

std::vector<Received> PatientExchange::receive(std::span<const ClientId> peers, Deadline) {
  const auto since = Clock::now();
  const std::vector<ClientId> all(peers.begin(), peers.end());
  auto missing = below_.wait(all, kNoWaiting);
  std::map<ClientId, double> seconds_of;  // until nobody had to wait for it any more
  const auto note_arrivals = [&](const std::vector<ClientId>& before, const std::vector<ClientId>& after) {
    const double seconds = std::chrono::duration<double>(Clock::now() - since).count();
    for (const ClientId peer : before)
      if (std::ranges::find(after, peer) == after.end()) seconds_of[peer] = seconds;
  };
  note_arrivals(all, missing);
  while (!missing.empty()) {
    const auto awaited = still_awaited(missing, since);
    if (awaited.empty()) break;
    if (while_waiting_) while_waiting_(awaited);
    auto now_missing = below_.wait(missing, Clock::now() + kLookEvery);
    note_arrivals(missing, now_missing);
    missing = std::move(now_missing);
  }
  if (while_waiting_) while_waiting_({});
  auto received = below_.receive(peers, kNoWaiting);
  for (const auto& one : received) {
    if (!one.arrived()) continue;
    given_up_.erase({moment_, one.sender});  // it came after all, while others were waited for
    // Those of a preparation say nothing of how long a round takes, in which neighbours train.
    if (moment_.round == 0) continue;
    if (const auto took = seconds_of.find(one.sender); took != seconds_of.end())
      times_[one.sender].add(took->second);
  }
  return received;
}

std::string PatientExchange::given_up(Moment moment, ClientId peer) const {
  const auto found = given_up_.find({moment, peer});
  return found == given_up_.end() ? "" : std::string(to_string(found->second));
}

double PatientExchange::usual_seconds(ClientId peer) const {
  const auto found = times_.find(peer);
  return found == times_.end() ? 0 : found->second.median();
}

}  // namespace dfrost

#include "peer/patience.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dfrost/error.h"
#include "peer/company.h"

namespace dfrost {
namespace {

constexpr std::size_t kTimesKept = 64;

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool is_stage(const Pulse& pulse, PeerStage stage) {
  return pulse.stage == static_cast<std::uint32_t>(stage);
}

}  // namespace

void PatienceOptions::validate() const {
  const bool sound = heartbeat_seconds > 0 && missed_heartbeats > 0 && longest_seconds > 0 &&
                     stalled_seconds > 0 && deviations >= 0 && floor_seconds >= 0;
  if (!sound)
    throw Error(ErrorCode::invalid_argument, "patience and heartbeats are durations above 0",
                "leave the keys out of peer.toml to have the usual ones");
}

void ArrivalTimes::add(double seconds) {
  seconds_.push_back(seconds);
  if (seconds_.size() > kTimesKept) seconds_.pop_front();
}

double ArrivalTimes::median() const {
  return seconds_.empty() ? 0 : median_of({seconds_.begin(), seconds_.end()});
}

std::optional<double> ArrivalTimes::bound(const PatienceOptions& options) const {
  if (seconds_.size() < options.least_letters) return std::nullopt;
  const double middle = median();
  std::vector<double> deviations;
  for (const double seconds : seconds_) deviations.push_back(std::abs(seconds - middle));
  const double bound = middle + options.deviations * median_of(std::move(deviations));
  return std::max({bound, options.floor_seconds, options.grace_seconds()});
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::wait: return "wait";
    case Verdict::passed: return "passed";
    case Verdict::adopts: return "adopts";
    case Verdict::stalled: return "stalled";
    case Verdict::late: return "late";
  }
  return "unknown";
}

bool is_beyond(const Pulse& pulse, Moment moment) {
  return pulse.round > moment.round || is_stage(pulse, PeerStage::done) ||
         (pulse.round == moment.round && pulse.phase > moment.phase);
}

Verdict judge(const Awaited& neighbour, const PatienceOptions& options) {
  if (neighbour.pulse) {
    if (is_stage(*neighbour.pulse, PeerStage::adopt) && neighbour.pulse->round >= neighbour.moment.round)
      return Verdict::adopts;
    // Its letter went before its word, or goes again when the link is back: a little later it is here.
    if (neighbour.passed_seconds > 2 * options.heartbeat_seconds) return Verdict::passed;
  }
  if (neighbour.waited_seconds > options.longest_seconds) return Verdict::late;
  if (neighbour.own_bound && neighbour.waited_seconds > *neighbour.own_bound) return Verdict::late;
  const double stalled = std::max(options.stalled_seconds, options.grace_seconds());
  return neighbour.unchanged_seconds > stalled ? Verdict::stalled : Verdict::wait;
}

}  // namespace dfrost

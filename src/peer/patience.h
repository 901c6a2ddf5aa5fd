// How long a peer waits for a neighbour's letter. One that is alive and comes nearer is waited for; one whose
// letter cannot come any more is not. On top there is a bound, and a second one that the neighbour's own
// earlier letters set. Durations only: clocks are wrong at some site. Functions of values; nothing waits
// here.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>

#include "network/letter.h"
#include "network/tls/wire.h"

namespace dfrost {

struct PatienceOptions {
  double heartbeat_seconds = 5;
  int missed_heartbeats = 3;
  // The longest wait for a neighbour that is alive.
  double longest_seconds = 3600;
  // For one that is alive but has said the same of itself all the time.
  double stalled_seconds = 900;
  // Its own bound, once so many of its letters came: median + deviations · MAD of how long they took, never
  // below the floor nor below the time after which a silent member counts as gone.
  std::size_t least_letters = 8;
  double deviations = 20;
  double floor_seconds = 120;

  double grace_seconds() const { return heartbeat_seconds * missed_heartbeats; }
  // Throws (invalid_argument) for durations that are none.
  void validate() const;
};

// How long the letters of one neighbour took, from the moment that ours were sent; the last 64.
class ArrivalTimes {
 public:
  void add(double seconds);
  std::optional<double> bound(const PatienceOptions& options) const;
  // Of the last letters; 0 where there is none.
  double median() const;

 private:
  std::deque<double> seconds_;
};

enum class Verdict {
  wait,
  passed,   // it is in a later round, or done: its letter would be here
  adopts,   // it has no state to send
  stalled,  // alive, but it does not advance
  late,     // later than the bounds allow
};
std::string_view to_string(Verdict verdict);

// What is known of a neighbour whose letter of a moment is missing.
struct Awaited {
  Moment moment = {};
  std::optional<Pulse> pulse = {};  // its last one
  double waited_seconds = 0;        // since our letters were sent
  double unchanged_seconds = 0;     // since its pulse last changed, or since our letters were sent
  double passed_seconds = 0;        // since it was first seen beyond this moment; 0: it is not
  std::optional<double> own_bound = {};
};

// Whether it is beyond the moment, by its own word.
bool is_beyond(const Pulse& pulse, Moment moment);
Verdict judge(const Awaited& neighbour, const PatienceOptions& options);

}  // namespace dfrost

// How one client's messages reach the others: the round is written once, over this interface, and runs the
// same inside one process, between processes and between machines. A message that does not come, comes late
// or comes twice is a value or a count, never an error. What is received does not depend on the order of
// arrival.
// Threads: an Exchange belongs to one client and is used by one thread at a time; different exchanges of a
// process may be used by different threads at once, and messages of others arrive meanwhile, from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "network/letter.h"

namespace dfrost {

// Shared, because one state goes to every neighbour: sending to all of them takes the memory of one.
using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;

// Why nothing came of a peer.
enum class Absence {
  none,      // something did
  deadline,  // it was not there in time
  gone,      // the peer is out of reach: nobody waited for it
  refused,   // it came and was thrown away unread, such as one above the limit
};

inline std::string_view to_string(Absence absence) {
  switch (absence) {
    case Absence::none: return "none";
    case Absence::deadline: return "deadline";
    case Absence::gone: return "gone";
    case Absence::refused: return "refused";
  }
  return "unknown";
}

// What came from one peer at this moment; its bytes are not yet decoded, and not yet to be believed.
struct Received {
  ClientId sender = 0;
  SharedBytes message;  // null: nothing came
  Absence absence = Absence::none;

  bool arrived() const { return message != nullptr; }
};

// Since the beginning. Bytes are those of whole messages, once for each peer they were sent to. Every message
// that came and is no longer kept is either received or in exactly one of the counts from `late` on.
struct ExchangeCounts {
  std::uint64_t sent_messages = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_messages = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t missing = 0;     // expected and not received, whatever the absence
  std::uint64_t late = 0;        // of a moment that is over
  std::uint64_t early = 0;       // of a moment too far ahead to keep
  std::uint64_t repeated = 0;    // a second one from the same sender for the same moment; the first is kept
  std::uint64_t unexpected = 0;  // from a client that is no neighbour at that moment
  std::uint64_t too_large = 0;   // above the limit

  friend bool operator==(const ExchangeCounts&, const ExchangeCounts&) = default;
};

class Exchange {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  static constexpr Deadline kNoWaiting{};  // long past: take what is there

  virtual ~Exchange() = default;
  virtual ClientId self() const = 0;

  // From here on messages are sent for, and expected of, this moment; what was kept of earlier ones is
  // dropped. Moments only grow; a client that sat out may skip some. Messages of peers that are a little
  // ahead are kept.
  virtual void begin(Moment moment) = 0;

  // Hands a message over and returns without waiting for it to arrive. One that gets lost is missing at the
  // receiver.
  virtual void send(ClientId peer, SharedBytes message) = 0;

  // Waits until every one of these peers has sent its message of this moment or is gone, or until the
  // deadline. One entry per peer, sorted by sender. The exchange of this moment is over then: once per
  // moment.
  virtual std::vector<Received> receive(std::span<const ClientId> peers, Deadline deadline) = 0;

  // Waits as well, and takes nothing: those of these peers of which nothing came yet and who are not gone, as
  // soon as fewer are missing than at the call, or at the deadline. None: receive() would not wait. For who
  // has reasons of its own to wait for one and not for another.
  virtual std::vector<ClientId> wait(std::span<const ClientId> peers, Deadline deadline) = 0;

  virtual ExchangeCounts counts() const = 0;
};

}  // namespace dfrost

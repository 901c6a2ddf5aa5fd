// How one client's messages reach the others: the round is written once, over this interface, and runs the
// same inside one process, between processes and between machines. An Exchange belongs to one client and is
// used by one thread at a time; messages of others may arrive meanwhile. A message that does not come, comes
// late or comes twice is a value or a count, never an error. What is received does not depend on the order of
// arrival.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "network/graph.h"

namespace dfrost {

// Shared, because one state goes to every neighbour: sending to all of them takes the memory of one.
using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;

// What came from one peer in this round; its bytes are not yet decoded, and not yet to be believed.
struct Received {
  ClientId sender = 0;
  SharedBytes message;  // null: nothing came in time

  bool arrived() const { return message != nullptr; }
};

// Since the beginning. Bytes are those of whole messages, once for each peer they were sent to.
struct ExchangeCounts {
  std::uint64_t sent_messages = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_messages = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t missing = 0;     // expected, but not there at the deadline
  std::uint64_t late = 0;        // of a round that is over
  std::uint64_t early = 0;       // of a round too far ahead to keep
  std::uint64_t repeated = 0;    // a second one from the same sender for the same round; the first is kept
  std::uint64_t unexpected = 0;  // from a client that is no neighbour in this round
  std::uint64_t too_large = 0;   // above the limit

  friend bool operator==(const ExchangeCounts&, const ExchangeCounts&) = default;
};

class Exchange {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  static constexpr Deadline kNoWaiting{};  // long past: take what is there

  virtual ~Exchange() = default;
  virtual ClientId self() const = 0;

  // From here on messages are sent for, and expected of, this round; what was kept of earlier ones is
  // dropped. Rounds only grow; a client that sat out may skip some. Messages of peers that are a little ahead
  // are kept.
  virtual void begin_round(std::uint64_t round) = 0;

  // Hands a message over and returns without waiting for it to arrive. One that gets lost is missing at the
  // receiver.
  virtual void send(ClientId peer, SharedBytes message) = 0;

  // Waits until every one of these peers has sent its message of this round, or until the deadline. One entry
  // per peer, sorted by sender. The exchange of this round is over then: once per round.
  virtual std::vector<Received> receive(std::span<const ClientId> peers, Deadline deadline) = 0;

  virtual ExchangeCounts counts() const = 0;
};

}  // namespace dfrost

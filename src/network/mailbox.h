// What a client's exchange keeps of the messages that come, and what it throws away; the same rules over
// every wire, which only has to deliver. At most one message is kept per sender and moment, of the moments
// from now to a few rounds ahead, each below a limit: however peers behave, memory is bounded. The first of a
// sender is kept: since the wire vouches for the sender, nobody else can come before it. Everything that is
// thrown away is counted; nothing is copied.
// Threads: any number of them deliver and mark at once; one, the owner's, begins and receives.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "network/exchange.h"

namespace dfrost {

struct MailboxOptions {
  // Messages of so many rounds to come are kept, and of all later phases of this one; rounds_ahead() of
  // network/mailbox_depth.h says how many a graph needs.
  std::uint64_t rounds_ahead = 1;
  // No round has more; messages of further ones are thrown away.
  std::uint32_t phases_per_round = 16;
  std::size_t message_limit_bytes = std::size_t{1} << 30;
  // Whether this sender is a neighbour at that moment: where the plan of rounds to come is known, nothing is
  // kept of others. Asked by whoever delivers, under the mailbox's lock; empty: everybody may be.
  std::function<bool(ClientId sender, Moment moment)> admits = {};
};

// What became of a message that came.
enum class Delivery { kept, late, early, repeated, unexpected, too_large };

class Mailbox {
 public:
  // Senders are clients 0 … clients − 1.
  explicit Mailbox(std::size_t clients, MailboxOptions options = {});

  // For the owner, as in Exchange.
  void begin(Moment moment);
  std::vector<Received> receive(std::span<const ClientId> peers, Exchange::Deadline deadline);
  std::vector<ClientId> wait(std::span<const ClientId> peers, Exchange::Deadline deadline);

  // For the wire, which vouches for sender and moment. Where it sees before reading it that a message is too
  // large, it refuses it instead.
  Delivery deliver(ClientId sender, Moment moment, SharedBytes message);
  void refuse(ClientId sender, Moment moment);
  // Whether a message that is about to come would be kept; one that would not is counted, as if it had come.
  Delivery announce(ClientId sender, Moment moment);

  // A peer that is gone is not waited for; what came of it before, or comes yet, counts all the same.
  void mark_gone(ClientId peer);
  void mark_back(ClientId peer);

  // Of what came; of what was sent it knows nothing.
  ExchangeCounts counts() const;

 private:
  using Letters = std::map<ClientId, SharedBytes>;  // null: it came and was refused

  Delivery judge(ClientId sender, Moment moment) const;
  Delivery keep(ClientId sender, Moment moment, SharedBytes message);
  void count(Delivery delivery);
  void take(Letters& letters, Received& received);
  void drop(const Letters& letters);
  std::vector<ClientId> missing_of(std::span<const ClientId> peers) const;
  bool is_waiting_for(ClientId peer, const Letters* letters) const;

  const std::size_t clients_;
  const MailboxOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Moment now_;
  bool over_ = false;               // this moment's messages were received
  std::map<Moment, Letters> kept_;  // from now on
  std::set<ClientId> gone_;         // few at a time, however many there are
  ExchangeCounts counts_;
};

}  // namespace dfrost

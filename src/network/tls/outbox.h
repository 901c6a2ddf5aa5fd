// The letters to one member: what is yet to be sent, what waits to be acknowledged, and what is kept in case
// that member is started again. Bounded: of the last rounds everything, of older ones what was not
// acknowledged, up to a number of bytes; and, as far as these last, those of round 0, in which a method is
// prepared: a member that has lost its state needs them again. Knows no sockets; of one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "network/exchange.h"
#include "network/tls/frame.h"

namespace dfrost {

struct OutboxOptions {
  std::uint64_t rounds_ahead = 1;  // as in MailboxOptions: how far the receiver may be behind
  std::size_t kept_bytes = std::size_t{64} << 20;
};

class Outbox {
 public:
  explicit Outbox(OutboxOptions options) : options_(options) {}

  void put(Moment moment, SharedBytes message);
  // The sender is in this round now; older letters are of less use.
  void begin(std::uint64_t round);

  // The next letter to send, by moment; it counts as sent from then on.
  struct Item {
    Moment moment;
    SharedBytes message;
  };
  std::optional<Item> next();
  bool has_unsent() const { return unsent_ > 0; }

  void acknowledge(const AckFrame& ack);
  // The receiver awaits this round: letters that were too early for it may be sent again.
  void await(std::uint64_t round);
  // A new link. To another process of the receiver than before everything from its round on is sent again; to
  // the same only what it did not acknowledge.
  void relink(std::uint64_t round, bool another_process);

  bool is_settled() const { return open_ == 0; }  // every letter is acknowledged
  std::size_t kept_bytes() const { return bytes_; }
  std::uint64_t dropped() const { return dropped_; }  // given up before they were acknowledged

 private:
  enum class State { unsent, sent, early, acknowledged };
  struct Letter {
    SharedBytes message;
    State state = State::unsent;
  };
  using Letters = std::map<Moment, Letter>;

  void set_state(Letter& letter, State state);
  Letters::iterator erase(Letters::iterator letter);
  void prune();

  OutboxOptions options_;
  Letters letters_;
  std::uint64_t round_ = 0;
  std::size_t bytes_ = 0, unsent_ = 0, open_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace dfrost

// What every exchange over a mailbox shares, whatever its wire: the moment it is in, what it has sent, and
// the receiving side, which is the mailbox's. A wire adds send(), and delivers into the mailbox what comes.
// Threads: as Exchange says; of what is here, other threads touch the mailbox alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "network/exchange.h"
#include "network/mailbox.h"

namespace dfrost {

class MailboxExchange : public Exchange {
 public:
  ClientId self() const override { return self_; }

  void begin(Moment moment) override {
    moment_ = moment;
    mailbox_.begin(moment);
  }

  std::vector<Received> receive(std::span<const ClientId> peers, Deadline deadline) override {
    return mailbox_.receive(peers, deadline);
  }

  std::vector<ClientId> wait(std::span<const ClientId> peers, Deadline deadline) override {
    return mailbox_.wait(peers, deadline);
  }

  ExchangeCounts counts() const override {
    auto counts = mailbox_.counts();
    counts.sent_messages = sent_messages_;
    counts.sent_bytes = sent_bytes_;
    return counts;
  }

 protected:
  MailboxExchange(ClientId self, std::size_t clients, const MailboxOptions& options)
      : self_(self), mailbox_(clients, options) {}

  void count_sent(std::size_t bytes) {
    ++sent_messages_;
    sent_bytes_ += bytes;
  }

  Moment moment() const { return moment_; }
  Mailbox& mailbox() { return mailbox_; }

 private:
  const ClientId self_;
  Moment moment_;
  std::uint64_t sent_messages_ = 0;
  std::uint64_t sent_bytes_ = 0;
  Mailbox mailbox_;
};

}  // namespace dfrost

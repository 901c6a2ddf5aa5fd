// Clients of one process exchange messages through their mailboxes: nothing is copied, everything is counted.
// All may send at once, each from its own thread; threads as in network/exchange.h, rules as in
// network/mailbox.h.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "network/exchange.h"
#include "network/mailbox.h"

namespace dfrost {

class InProcessNetwork {
 public:
  explicit InProcessNetwork(std::size_t clients, MailboxOptions options = {});
  ~InProcessNetwork();
  InProcessNetwork(const InProcessNetwork&) = delete;
  InProcessNetwork& operator=(const InProcessNetwork&) = delete;

  std::size_t clients() const { return endpoints_.size(); }
  // Lives as long as the network.
  Exchange& exchange_of(ClientId client);

 private:
  class Endpoint;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
};

}  // namespace dfrost

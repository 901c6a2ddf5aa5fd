// Clients of one process exchange messages through mailboxes: nothing is copied, everything is counted. Any
// number of threads may send at once. A mailbox keeps at most one message per sender and round, of this round
// and a few to come, each below a limit: however peers behave, memory is bounded.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "network/exchange.h"

namespace dfrost {

struct InProcessOptions {
  std::uint64_t rounds_ahead = 1;  // messages of so many rounds to come are kept
  std::size_t message_limit_bytes = std::size_t{1} << 30;
};

class InProcessNetwork {
 public:
  explicit InProcessNetwork(std::size_t clients, InProcessOptions options = {});
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

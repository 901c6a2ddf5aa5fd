#include "network/in_process_exchange.h"

#include <cassert>
#include <utility>

#include "network/mailbox_exchange.h"

namespace dfrost {

class InProcessNetwork::Endpoint final : public MailboxExchange {
 public:
  Endpoint(InProcessNetwork& network, std::size_t clients, ClientId self, const MailboxOptions& options)
      : MailboxExchange(self, clients, options), network_(network) {}

  void send(ClientId peer, SharedBytes message) override {
    assert(peer < network_.clients() && peer != self() && message != nullptr);
    count_sent(message->size());
    network_.endpoints_[peer]->mailbox().deliver(self(), moment(), std::move(message));
  }

 private:
  InProcessNetwork& network_;
};

InProcessNetwork::InProcessNetwork(std::size_t clients, MailboxOptions options) {
  endpoints_.reserve(clients);
  for (std::size_t client = 0; client < clients; ++client) {
    endpoints_.push_back(std::make_unique<Endpoint>(*this, clients, static_cast<ClientId>(client), options));
  }
}

InProcessNetwork::~InProcessNetwork() = default;

Exchange& InProcessNetwork::exchange_of(ClientId client) {
  assert(client < clients());
  return *endpoints_[client];
}

}  // namespace dfrost

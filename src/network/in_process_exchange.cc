#include "network/in_process_exchange.h"

#include <cassert>
#include <utility>

namespace dfrost {

class InProcessNetwork::Endpoint final : public Exchange {
 public:
  Endpoint(InProcessNetwork& network, std::size_t clients, ClientId self, const MailboxOptions& options)
      : network_(network), self_(self), mailbox_(clients, options) {}

  ClientId self() const override { return self_; }

  void begin(Moment moment) override {
    moment_ = moment;
    mailbox_.begin(moment);
  }

  void send(ClientId peer, SharedBytes message) override {
    assert(peer < network_.clients() && peer != self_ && message != nullptr);
    ++sent_messages_;
    sent_bytes_ += message->size();
    network_.endpoints_[peer]->mailbox_.deliver(self_, moment_, std::move(message));
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

 private:
  InProcessNetwork& network_;
  const ClientId self_;
  Moment moment_;
  std::uint64_t sent_messages_ = 0;
  std::uint64_t sent_bytes_ = 0;
  Mailbox mailbox_;  // the one thing that other threads touch
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

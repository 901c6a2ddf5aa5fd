#include "network/mpi/mpi_network.h"

#include <cassert>

#include "network/mailbox_exchange.h"

namespace dfrost {

class MpiNetwork::Endpoint final : public MailboxExchange {
 public:
  Endpoint(MpiNetwork& network, ClientId self)
      : MailboxExchange(self, network.options_.homes.size(), network.options_.mailbox), network_(network) {}

  void begin(Moment moment) override {
    MailboxExchange::begin(moment);
    network_.listen(moment);
  }

  void send(ClientId peer, SharedBytes message) override {
    assert(peer < network_.options_.homes.size() && peer != self() && message != nullptr);
    count_sent(message->size());
    if (network_.lives_here(peer))
      network_.endpoints_[peer]->mailbox().deliver(self(), moment(), std::move(message));
    else
      network_.keep(self(), peer, std::move(message));
  }

  void deliver(ClientId sender, Moment moment, SharedBytes message) {
    mailbox().deliver(sender, moment, std::move(message));
  }

 private:
  MpiNetwork& network_;
};

MpiNetwork::MpiNetwork(Communicator& ranks, Options options)
    : ranks_(ranks), options_(std::move(options)), endpoints_(options_.homes.size()) {
  for (std::size_t node = 0; node < endpoints_.size(); ++node)
    if (lives_here(static_cast<ClientId>(node)))
      endpoints_[node] = std::make_unique<Endpoint>(*this, static_cast<ClientId>(node));
}

MpiNetwork::~MpiNetwork() = default;

Exchange& MpiNetwork::exchange_of(ClientId node) {
  assert(node < endpoints_.size() && endpoints_[node] != nullptr);
  return *endpoints_[node];
}

void MpiNetwork::listen(Moment moment) {
  if (heard_ == moment) return;
  heard_ = moment;
  incoming_.clear();
  outgoing_.clear();
  std::vector<Communicator::Expected> expected;
  // A limit that is the mailbox's own says nothing about this run's letters.
  const std::size_t limit = options_.mailbox.message_limit_bytes;
  for (const auto& link : options_.links(moment)) {
    const bool from_here = lives_here(link.sender), to_here = lives_here(link.receiver);
    if (from_here && !to_here) outgoing_.push_back(link);
    if (from_here || !to_here) continue;
    incoming_.push_back(link);
    expected.push_back({options_.homes[link.sender], limit});
  }
  ranks_.listen(std::move(expected));
}

void MpiNetwork::keep(ClientId sender, ClientId receiver, SharedBytes message) {
  const std::lock_guard lock(mutex_);
  outbox_.emplace(std::pair(sender, receiver), std::move(message));
}

void MpiNetwork::carry(Moment moment) {
  listen(moment);  // where nobody here takes part, nobody has begun
  std::vector<Communicator::Parcel> parcels;
  parcels.reserve(outgoing_.size());
  for (const auto& [sender, receiver] : outgoing_) {
    const auto letter = outbox_.find({sender, receiver});
    parcels.push_back({options_.homes[receiver], letter == outbox_.end() ? nullptr : letter->second});
  }
  auto letters = ranks_.carry(parcels);
  for (std::size_t i = 0; i < letters.size(); ++i)
    if (letters[i] != nullptr)
      endpoints_[incoming_[i].receiver]->deliver(incoming_[i].sender, moment, std::move(letters[i]));
  outbox_.clear();
}

}  // namespace dfrost

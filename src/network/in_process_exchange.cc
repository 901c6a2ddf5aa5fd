#include "network/in_process_exchange.h"

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

namespace dfrost {

class InProcessNetwork::Endpoint final : public Exchange {
 public:
  Endpoint(InProcessNetwork& network, ClientId self, const InProcessOptions& options)
      : network_(network), self_(self), options_(options) {}

  ClientId self() const override { return self_; }

  void begin_round(std::uint64_t round) override {
    const std::lock_guard lock(mutex_);
    assert(round >= round_);
    if (round > round_) over_ = false;
    round_ = round;
    held_.erase(held_.begin(), held_.lower_bound(round));
  }

  void send(ClientId peer, SharedBytes message) override {
    assert(peer < network_.clients() && peer != self_ && message != nullptr);
    std::uint64_t round = 0;
    {
      const std::lock_guard lock(mutex_);
      round = round_;
      ++counts_.sent_messages;
      counts_.sent_bytes += message->size();
    }
    // Only one mailbox is ever locked at a time: two clients that send to each other cannot block each other.
    network_.endpoints_[peer]->deliver(self_, round, std::move(message));
  }

  std::vector<Received> receive(std::span<const ClientId> peers, Deadline deadline) override {
    std::vector<Received> received;
    received.reserve(peers.size());
    for (const ClientId peer : peers) received.push_back({.sender = peer, .message = nullptr});
    std::sort(received.begin(), received.end(),
              [](const Received& a, const Received& b) { return a.sender < b.sender; });

    std::unique_lock lock(mutex_);
    assert(!over_);
    arrived_.wait_until(lock, deadline, [&] { return has_all(received); });
    over_ = true;
    auto messages = std::move(held_[round_]);
    held_.erase(round_);
    for (auto& [sender, message] : received) {
      if (const auto found = messages.find(sender); found != messages.end()) {
        message = std::move(found->second);
        messages.erase(found);
        ++counts_.received_messages;
        counts_.received_bytes += message->size();
      } else {
        ++counts_.missing;
      }
    }
    counts_.unexpected += messages.size();
    return received;
  }

  ExchangeCounts counts() const override {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  void deliver(ClientId sender, std::uint64_t round, SharedBytes message) {
    const std::lock_guard lock(mutex_);
    if (message->size() > options_.message_limit_bytes) {
      ++counts_.too_large;
    } else if (round < round_ || (round == round_ && over_)) {
      ++counts_.late;
    } else if (round - round_ > options_.rounds_ahead) {
      ++counts_.early;
    } else if (!held_[round].emplace(sender, std::move(message)).second) {
      ++counts_.repeated;
    } else {
      arrived_.notify_one();  // nobody but the owner waits
    }
  }

  bool has_all(std::span<const Received> expected) const {
    const auto of_round = held_.find(round_);
    if (of_round == held_.end()) return expected.empty();
    return std::all_of(expected.begin(), expected.end(),
                       [&](const Received& one) { return of_round->second.contains(one.sender); });
  }

  InProcessNetwork& network_;
  const ClientId self_;
  const InProcessOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::uint64_t round_ = 0;
  bool over_ = false;                                              // this round's messages were received
  std::map<std::uint64_t, std::map<ClientId, SharedBytes>> held_;  // by round and sender
  ExchangeCounts counts_;
};

InProcessNetwork::InProcessNetwork(std::size_t clients, InProcessOptions options) {
  endpoints_.reserve(clients);
  for (std::size_t client = 0; client < clients; ++client) {
    endpoints_.push_back(std::make_unique<Endpoint>(*this, static_cast<ClientId>(client), options));
  }
}

InProcessNetwork::~InProcessNetwork() = default;

Exchange& InProcessNetwork::exchange_of(ClientId client) {
  assert(client < clients());
  return *endpoints_[client];
}

}  // namespace dfrost

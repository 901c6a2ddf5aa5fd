#include "network/mailbox.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace dfrost {

Mailbox::Mailbox(std::size_t clients, MailboxOptions options)
    : clients_(clients), options_(std::move(options)) {}

void Mailbox::begin(Moment moment) {
  const std::lock_guard lock(mutex_);
  assert(moment >= now_ && moment.phase < options_.phases_per_round);
  if (moment > now_) over_ = false;
  now_ = moment;
  const auto first_kept = kept_.lower_bound(moment);
  for (auto old = kept_.begin(); old != first_kept; ++old) drop(old->second);
  kept_.erase(kept_.begin(), first_kept);
}

std::vector<Received> Mailbox::receive(std::span<const ClientId> peers, Exchange::Deadline deadline) {
  std::vector<Received> received;
  received.reserve(peers.size());
  for (const ClientId peer : peers) received.push_back({.sender = peer, .message = nullptr});
  std::sort(received.begin(), received.end(),
            [](const Received& a, const Received& b) { return a.sender < b.sender; });

  std::unique_lock lock(mutex_);
  assert(!over_);
  changed_.wait_until(lock, deadline, [&] { return missing_of(peers).empty(); });
  over_ = true;
  Letters letters = std::move(kept_[now_]);
  kept_.erase(now_);
  for (Received& one : received) take(letters, one);
  drop(letters);
  return received;
}

std::vector<ClientId> Mailbox::wait(std::span<const ClientId> peers, Exchange::Deadline deadline) {
  std::unique_lock lock(mutex_);
  auto missing = missing_of(peers);
  const std::size_t at_first = missing.size();
  changed_.wait_until(lock, deadline, [&] {
    missing = missing_of(peers);
    return missing.empty() || missing.size() < at_first;
  });
  return missing;
}

Delivery Mailbox::deliver(ClientId sender, Moment moment, SharedBytes message) {
  assert(message != nullptr);
  if (message->size() > options_.message_limit_bytes) message = nullptr;
  const std::lock_guard lock(mutex_);
  return keep(sender, moment, std::move(message));
}

void Mailbox::refuse(ClientId sender, Moment moment) {
  const std::lock_guard lock(mutex_);
  keep(sender, moment, nullptr);
}

Delivery Mailbox::announce(ClientId sender, Moment moment) {
  const std::lock_guard lock(mutex_);
  const Delivery delivery = judge(sender, moment);
  count(delivery);
  return delivery;
}

void Mailbox::mark_gone(ClientId peer) {
  const std::lock_guard lock(mutex_);
  assert(peer < clients_);
  gone_.insert(peer);
  changed_.notify_one();
}

void Mailbox::mark_back(ClientId peer) {
  const std::lock_guard lock(mutex_);
  assert(peer < clients_);
  gone_.erase(peer);
}

ExchangeCounts Mailbox::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

Delivery Mailbox::judge(ClientId sender, Moment moment) const {
  if (sender >= clients_) return Delivery::unexpected;
  if (moment < now_ || (moment == now_ && over_)) return Delivery::late;
  if (moment.round - now_.round > options_.rounds_ahead || moment.phase >= options_.phases_per_round)
    return Delivery::early;
  if (options_.admits && !options_.admits(sender, moment)) return Delivery::unexpected;
  const auto letters = kept_.find(moment);
  return letters != kept_.end() && letters->second.contains(sender) ? Delivery::repeated : Delivery::kept;
}

// That a refused message came is kept too: its sender need not be waited for, and can be named.
Delivery Mailbox::keep(ClientId sender, Moment moment, SharedBytes message) {
  Delivery delivery = judge(sender, moment);
  if (delivery == Delivery::kept) {
    if (message == nullptr) delivery = Delivery::too_large;
    kept_[moment].emplace(sender, std::move(message));
    changed_.notify_one();  // nobody but the owner waits
  }
  count(delivery);
  return delivery;
}

void Mailbox::count(Delivery delivery) {
  switch (delivery) {
    case Delivery::kept: break;  // counted when it is received or dropped
    case Delivery::late: ++counts_.late; break;
    case Delivery::early: ++counts_.early; break;
    case Delivery::repeated: ++counts_.repeated; break;
    case Delivery::unexpected: ++counts_.unexpected; break;
    case Delivery::too_large: ++counts_.too_large; break;
  }
}

// Hands over what came of one sender, or says why nothing did.
void Mailbox::take(Letters& letters, Received& received) {
  const auto found = letters.find(received.sender);
  if (found == letters.end()) {
    received.absence = gone_.contains(received.sender) ? Absence::gone : Absence::deadline;
  } else {
    received.message = std::move(found->second);
    if (!received.arrived()) received.absence = Absence::refused;
    letters.erase(found);
  }
  if (received.arrived()) {
    ++counts_.received_messages;
    counts_.received_bytes += received.message->size();
  } else {
    ++counts_.missing;
  }
}

// What nobody asked for; refused ones were counted when they came.
void Mailbox::drop(const Letters& letters) {
  counts_.unexpected += static_cast<std::uint64_t>(std::count_if(
      letters.begin(), letters.end(), [](const auto& letter) { return letter.second != nullptr; }));
}

std::vector<ClientId> Mailbox::missing_of(std::span<const ClientId> peers) const {
  const auto found = kept_.find(now_);
  const Letters* letters = found == kept_.end() ? nullptr : &found->second;
  std::vector<ClientId> missing;
  for (const ClientId peer : peers)
    if (is_waiting_for(peer, letters)) missing.push_back(peer);
  return missing;
}

bool Mailbox::is_waiting_for(ClientId peer, const Letters* letters) const {
  const bool came = letters != nullptr && letters->contains(peer);
  return !came && !gone_.contains(peer);
}

}  // namespace dfrost

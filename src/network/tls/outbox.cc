#include "network/tls/outbox.h"

#include <algorithm>
#include <utility>

namespace dfrost {

void Outbox::put(Moment moment, SharedBytes message) {
  begin(moment.round);
  const std::size_t size = message->size();
  if (!letters_.try_emplace(moment, Letter{std::move(message), State::unsent}).second) return;
  bytes_ += size;
  ++unsent_;
  ++open_;
  prune();
}

void Outbox::begin(std::uint64_t round) {
  if (round <= round_) return;
  round_ = round;
  prune();
}

std::optional<Outbox::Item> Outbox::next() {
  if (unsent_ == 0) return std::nullopt;
  const auto found = std::find_if(letters_.begin(), letters_.end(),
                                  [](const auto& letter) { return letter.second.state == State::unsent; });
  set_state(found->second, State::sent);
  return Item{found->first, found->second.message};
}

void Outbox::acknowledge(const AckFrame& ack) {
  const auto found = letters_.find(ack.moment);
  // An early one that is on its way again is not acknowledged by what was said of it before.
  if (found == letters_.end() || found->second.state == State::unsent) return;
  set_state(found->second, ack.delivery == Delivery::early ? State::early : State::acknowledged);
  prune();
}

void Outbox::await(std::uint64_t round) {
  for (auto& [moment, letter] : letters_) {
    if (letter.state == State::early && moment.round <= round + options_.rounds_ahead)
      set_state(letter, State::unsent);
  }
}

void Outbox::relink(std::uint64_t round, bool another_process) {
  for (auto letter = letters_.begin(); letter != letters_.end();) {
    if (letter->first.round < round) {
      set_state(letter->second, State::acknowledged);  // of no use to it any more
    } else if (another_process || letter->second.state != State::acknowledged) {
      set_state(letter->second, State::unsent);
    }
    ++letter;
  }
  prune();
}

void Outbox::set_state(Letter& letter, State state) {
  unsent_ += (state == State::unsent) - (letter.state == State::unsent);
  open_ += (state != State::acknowledged) - (letter.state != State::acknowledged);
  letter.state = state;
}

Outbox::Letters::iterator Outbox::erase(Letters::iterator letter) {
  if (letter->second.state != State::acknowledged) ++dropped_;
  set_state(letter->second, State::acknowledged);
  bytes_ -= letter->second.message->size();
  return letters_.erase(letter);
}

void Outbox::prune() {
  const std::uint64_t first_kept = round_ > options_.rounds_ahead ? round_ - options_.rounds_ahead : 0;
  for (auto letter = letters_.begin(); letter != letters_.end() && letter->first.round < first_kept;) {
    const bool needed = letter->second.state != State::acknowledged || letter->first.round == 0;
    const bool in_the_way = bytes_ > options_.kept_bytes || !needed;
    letter = in_the_way ? erase(letter) : std::next(letter);
  }
}

}  // namespace dfrost

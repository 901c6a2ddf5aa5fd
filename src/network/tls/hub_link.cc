// Hub: links that are up, and what comes over them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "network/tls/hub.h"

namespace dfrost {
namespace {

// Acknowledgements and the like that wait to be written: who lets so many pile up does not read.
constexpr std::size_t kMostQueued = 4096;
// News of a round are told at once, but not more often.
constexpr double kShortestPulseSeconds = 0.05;
constexpr double kFinishSeconds = 2;

std::uint64_t micros(Channel::Clock::duration duration) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

std::string_view reason_of(Delivery delivery) {
  switch (delivery) {
    case Delivery::late: return "late_letter";
    case Delivery::early: return "early_letter";
    case Delivery::repeated: return "repeated_letter";
    default: return "unexpected_letter";
  }
}

std::string_view reason_of(Ending ending) {
  switch (ending) {
    case Ending::no_certificate: return "no_certificate";
    case Ending::unknown_key: return "unknown_key";
    case Ending::not_tls: return "not_tls";
    default: return "hung_up";
  }
}

// Of an attempt to dial. A site that does not know our key says so only after we took the handshake for done,
// and what it says may be lost.
std::string explain(const Channel& channel, Ending ending, const std::string& text) {
  if (ending == Ending::unknown_key)
    return "who answers there has another key; compare its fingerprint with the federation file";
  if (ending != Ending::asked && channel.notes.greeting)
    return fmt::format("it does not let us in ({}); it may not have joined with a file that names our key",
                       text);
  return text;
}

}  // namespace

void Hub::on_secure(Channel& channel) {
  channel.notes.greeting = true;
  if (channel.notes.dialled) return channel.put(encode_greeting(FrameType::hello, greeting()));
  channel.notes.member = numbers_.at(channel.peer());
}

void Hub::on_frame(Channel& channel, FrameType type, std::span<const std::byte> payload) {
  if (!channel.is_open()) return;
  if (channel.version() == 0) {
    if (!channel.notes.dialled)
      return type == FrameType::hello ? judge_hello(channel, payload)
                                      : refuse(channel, RefuseCode::malformed);
    if (type == FrameType::welcome) return hear_welcome(channel, payload);
    if (type == FrameType::refuse) return hear_refusal(channel, payload);
    return channel.close(Ending::malformed, "it said HELLO to our HELLO");
  }
  Member* from = linked_member(channel);
  if (from == nullptr) return;
  from->frames.take(1);
  if (type == FrameType::pulse) return hear_pulse(*from, channel, payload);
  if (type == FrameType::ack) return hear_ack(*from, payload);
  hear_bye(*from, payload);
}

void Hub::link(Channel& channel, const Greeting& theirs, std::uint16_t version) {
  Member& with = member(*channel.notes.member);
  const auto self = channel.shared_from_this();
  if (with.link) {
    auto old = std::exchange(with.link, nullptr);
    pending_.insert(old);
    old->close();
  }
  if (with.dial && with.dial != self) std::exchange(with.dial, nullptr)->close();
  if (with.dial == self) with.dial = nullptr;
  pending_.erase(self);
  if (!channel.notes.dialled && --from_address_[channel.notes.address] == 0)
    from_address_.erase(channel.notes.address);
  channel.agree_on(version);
  channel.notes.deadline = Time::max();
  with.link = self;
  with.outbox.relink(theirs.round, theirs.boot != with.boot);
  with.boot = theirs.boot;
  with.failures = 0;
  with.duplicate_since.reset();
  with.echo = 0;
  with.pulse_due = true;
  const bool again = std::exchange(with.ever_linked, true);
  board_.change(with.info.number, [&](PeerView& view) {
    view.linked = true;
    view.software = theirs.software;
    view.reconnects += again ? 1 : 0;
  });
  trouble(with, "");
  heard(with);
  if (observer_ != nullptr) observer_->on_link(with.info.number, true);
  channel.wake();
}

void Hub::unlink(Member& member, const std::string& why) {
  member.link = nullptr;
  board_.change(member.info.number, [](PeerView& view) { view.linked = false; });
  const auto next = in(options_.limits.retry_seconds * random_.uniform(0.5, 1.5));
  const bool we_yield =
      options_.self > member.info.number && !own_address_.empty() && !options_.listen.empty();
  member.next_dial =
      std::max(member.next_dial, we_yield ? next + (in(options_.limits.yield_seconds) - Clock::now()) : next);
  if (!why.empty()) trouble(member, fmt::format("the link broke: {}", why));
  if (observer_ != nullptr) observer_->on_link(member.info.number, false);
}

void Hub::on_end(Channel& channel, Ending ending, const std::string& text) {
  const auto self = channel.shared_from_this();
  if (stopped_) return;
  if (Member* with = linked_member(channel)) {
    unlink(*with, ending == Ending::closed ? "" : text);
  } else if (pending_.erase(self) > 0 && !channel.notes.dialled && channel.version() == 0) {
    if (--from_address_[channel.notes.address] == 0) from_address_.erase(channel.notes.address);
    if (channel.notes.refusal.empty() && ending != Ending::asked) count(reason_of(ending));
  } else if (channel.notes.dialled && member(*channel.notes.member).dial == self) {
    const bool refused = !channel.notes.refusal.empty();
    dial_failed(member(*channel.notes.member), refused ? "" : explain(channel, ending, text));
  }
  check_settled();
}

void Hub::heard(Member& member) {
  member.heard = Clock::now();
  board_.heard(member.info.number);
  if (std::exchange(member.gone, false)) mailbox_.mark_back(member.info.number);
}

void Hub::mark_gone(Member& member) {
  member.gone = true;
  mailbox_.mark_gone(member.info.number);
  check_settled();
}

void Hub::on_read(Channel& channel, std::size_t bytes) {
  Member* from = linked_member(channel);
  if (from == nullptr) return;
  heard(*from);
  from->bytes.take(static_cast<double>(bytes));
  if (!from->bytes.is_spent() && !from->frames.is_spent()) return;
  if (!from->bytes.is_empty(from->heard) && !from->frames.is_empty(from->heard)) return;
  count("throttled");
  channel.pause();
}

bool Hub::on_letter_head(Channel& channel, const LetterHead& head) {
  Member* from = linked_member(channel);
  if (from == nullptr || !channel.is_open()) return false;
  from->frames.take(1);
  if (head.sender != from->info.number) {
    bar(*from, "speaks_for_another", fmt::format("it sent a letter as if from member {}", head.sender));
    return false;
  }
  const auto delivery = mailbox_.announce(head.sender, head.moment);
  if (delivery == Delivery::kept) return true;
  count(reason_of(delivery));
  acknowledge(channel, head.moment, delivery);
  return false;
}

void Hub::on_letter(Channel& channel, const LetterHead& head, SharedBytes message) {
  Member* from = linked_member(channel);
  if (from == nullptr || !channel.is_open()) return;
  const std::size_t size = message->size();
  const auto delivery = mailbox_.deliver(head.sender, head.moment, std::move(message));
  board_.change(head.sender, [&](PeerView& view) {
    ++view.received_messages;
    view.received_bytes += size;
  });
  acknowledge(channel, head.moment, delivery);
}

void Hub::acknowledge(Channel& channel, Moment moment, Delivery delivery) {
  channel.put(encode_ack(channel.version(), {.moment = moment, .delivery = delivery}));
  if (channel.queued() <= kMostQueued) return;
  count("slow_reader");
  channel.close(Ending::asked, "it does not read what we send");
}

void Hub::on_fault(Channel& channel, FrameFault fault, const LetterHead& letter) {
  if (channel.version() == 0) {
    if (!channel.notes.dialled) refuse(channel, RefuseCode::malformed);
    return;
  }
  Member* from = linked_member(channel);
  if (from == nullptr) return;
  if (fault == FrameFault::oversized && letter.sender == from->info.number)
    mailbox_.refuse(letter.sender, letter.moment);  // nobody need wait for it
  bar(*from, fault == FrameFault::oversized ? "oversized_letter" : "malformed_frame",
      fmt::format("it sent what is no frame: {}", to_string(fault)));
}

void Hub::bar(Member& member, std::string_view reason, const std::string& text) {
  count(reason);
  member.barred_until = in(options_.limits.barred_seconds);
  member.next_dial = member.barred_until;
  member.link->close(Ending::malformed, text);
}

void Hub::hear_pulse(Member& member, Channel& channel, std::span<const std::byte> payload) {
  const auto frame = decode_pulse(channel.version(), payload);
  if (!frame) return bar(member, "malformed_frame", "it sent a heartbeat that cannot be read");
  board_.see_revision(frame->pulse.revision);
  const auto now = Clock::now();
  const auto sent = micros(now.time_since_epoch()) - frame->echo_held_micros - frame->echo;
  board_.change(member.info.number, [&](PeerView& view) {
    view.pulse = frame->pulse;
    constexpr std::uint64_t kHour = 3'600'000'000;
    if (frame->echo != 0 && sent < kHour) view.round_trip_seconds = 1e-6 * static_cast<double>(sent);
  });
  member.echo = frame->sent_at;
  member.echo_at = now;
  member.outbox.await(frame->awaited_round);
  if (member.outbox.has_unsent()) channel.wake();
}

void Hub::hear_ack(Member& member, std::span<const std::byte> payload) {
  const auto ack = decode_ack(payload);
  if (!ack) return bar(member, "malformed_frame", "it sent an acknowledgement that cannot be read");
  member.outbox.acknowledge(*ack);
  check_settled();
}

void Hub::hear_bye(Member& member, std::span<const std::byte> payload) {
  const auto farewell = decode_bye(payload);
  if (!farewell) return bar(member, "malformed_frame", "it said goodbye in a way that cannot be read");
  const auto link = member.link;
  unlink(member, "");
  pending_.insert(link);
  link->notes.deadline = in(kFinishSeconds);
  link->finish();
  if (*farewell == Farewell::leaving) return;
  member.next_dial = in(options_.limits.refused_retry_seconds);
  board_.left(member.info.number);
  mark_gone(member);
}

void Hub::on_idle(Channel& channel) {
  Member* to = linked_member(channel);
  if (to == nullptr) return;
  if (auto item = to->outbox.next()) {
    const LetterHead head{.sender = options_.self, .moment = item->moment};
    auto bytes = encode_letter_head(channel.version(), head, item->message->size());
    channel.put(std::move(bytes), std::move(item->message));
  } else if (to->pulse_due && may_pulse(*to)) {
    write_pulse(*to, channel);
  }
}

// Only behind all letters: who hears of a new round has those of the old one.
void Hub::write_pulse(Member& member, Channel& channel) {
  const auto now = Clock::now();
  member.pulse_due = false;
  member.pulse_at = now;
  PulseFrame frame{.pulse = pulse_, .awaited_round = round_, .sent_at = micros(now.time_since_epoch())};
  frame.echo = member.echo;
  frame.echo_held_micros = member.echo == 0 ? 0 : micros(now - member.echo_at);
  channel.put(encode_pulse(channel.version(), frame));
}

bool Hub::may_pulse(const Member& member) const {
  const double shortest = std::min(kShortestPulseSeconds, options_.heartbeat_seconds / 4);
  return Clock::now() - member.pulse_at > std::chrono::duration<double>(shortest);
}

void Hub::announce_pulse() {
  for (auto& [number, one] : members_) {
    one->pulse_due = true;  // at a later tick, if not now
    if (one->link && may_pulse(*one)) one->link->wake();
  }
}

}  // namespace dfrost

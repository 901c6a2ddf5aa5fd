// Hub: reaching members, again and again, and what is learnt when it fails.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "network/tls/address.h"
#include "network/tls/hub.h"

namespace dfrost {
namespace {

std::string with_hint(const Advice& advice) { return fmt::format("{}; {}", advice.trouble, advice.hint); }

}  // namespace

void Hub::dial(Member& member) {
  const auto channel = std::make_shared<Channel>(io_, *this, options_.mailbox.message_limit_bytes);
  channel->notes.dialled = true;
  channel->notes.member = member.info.number;
  channel->notes.address = member.info.address;
  channel->notes.deadline = in(options_.limits.handshake_seconds);
  member.dial = channel;
  pending_.insert(channel);
  const auto [host, port] = parse_network_address(member.info.address);
  std::error_code is_a_name;
  const auto literal = asio::ip::make_address(host, is_a_name);
  // Names are looked up one after another, and a server that does not answer would hold up all.
  if (!is_a_name) {
    const asio::ip::tcp::endpoint place(literal, port);
    return connect(member, channel, asio::ip::tcp::resolver::results_type::create(place, host, ""));
  }
  resolver_.async_resolve(host, std::to_string(port),
                          [this, &member, channel](const std::error_code& error,
                                                   const asio::ip::tcp::resolver::results_type& places) {
                            if (!channel->is_open()) return;
                            if (error)
                              return channel->close(
                                  Ending::cut, fmt::format("its name has no address: {}", error.message()));
                            connect(member, channel, places);
                          });
}

void Hub::connect(Member& member, const SharedChannel& channel,
                  const asio::ip::tcp::resolver::results_type& places) {
  asio::async_connect(
      channel->socket(), places,
      [this, &member, channel](const std::error_code& error, const asio::ip::tcp::endpoint&) {
        if (!channel->is_open()) return;
        if (error)
          return channel->close(Ending::cut, fmt::format("nobody answers there: {}", error.message()));
        channel->start(tls_.dialling(channel->socket().native_handle(), member.info.key), tcp_patience());
      });
}

void Hub::dial_failed(Member& member, const std::string& text) {
  member.dial = nullptr;
  const double wait = std::min(options_.limits.longest_retry_seconds,
                               options_.limits.retry_seconds * std::exp2(std::min(member.failures, 20u)));
  ++member.failures;
  const auto next = in(wait * random_.uniform(0.5, 1.5));
  member.next_dial = std::max(member.next_dial, next);
  if (!text.empty()) trouble(member, fmt::format("cannot reach {}: {}", member.info.address, text));
}

void Hub::hear_welcome(Channel& channel, std::span<const std::byte> payload) {
  Member& to = member(*channel.notes.member);
  const auto theirs = decode_greeting(payload);
  auto refusal =
      theirs ? judge_greeting(*theirs, to.info.number, greeting()) : std::optional(RefuseCode::malformed);
  if (!refusal && theirs->oldest_version != theirs->newest_version) refusal = RefuseCode::malformed;
  if (!refusal && to.link) refusal = RefuseCode::tie;  // it came by the other way meanwhile
  if (!refusal) return link(channel, *theirs, theirs->newest_version);
  count(to_string(*refusal));
  if (*refusal != RefuseCode::tie) {
    to.next_dial = in(options_.limits.refused_retry_seconds);
    trouble(to, fmt::format("its WELCOME does not fit: {}", to_string(*refusal)));
  }
  channel.close();
}

void Hub::hear_refusal(Channel& channel, std::span<const std::byte> payload) {
  Member& to = member(*channel.notes.member);
  const auto refuse = decode_refuse(payload);
  if (!refuse) return channel.close(Ending::malformed, "its refusal cannot be read");
  channel.notes.refusal = to_string(refuse->code);
  board_.see_revision(refuse->revision);
  if (refuse->code == RefuseCode::duplicate) note_duplicate(to);
  if (!passes_soon(refuse->code))
    to.next_dial = in(options_.limits.refused_retry_seconds * random_.uniform(0.75, 1.25));
  if (refuse->code != RefuseCode::tie) trouble(to, with_hint(advice_on(*refuse, options_.revision)));
  channel.close();
}

// After a crash the old link may look alive for a while over there; only what lasts longer is a second one.
void Hub::note_duplicate(Member& member) {
  const auto now = Clock::now();
  if (!member.duplicate_since) member.duplicate_since = now;
  const double patience = options_.silence_seconds() + options_.heartbeat_seconds;
  if (now - *member.duplicate_since > std::chrono::duration<double>(patience)) board_.set_duplicate();
}

}  // namespace dfrost

// Hub: those who dial us, up to the moment when they are a link or refused.
#include <fmt/format.h>

#include <utility>

#include "dfrost/error.h"
#include "network/tls/address.h"
#include "network/tls/hub.h"

namespace dfrost {
namespace {

// After the system had no socket left for a newcomer.
constexpr auto kBreather = std::chrono::milliseconds(100);
// For a refusal to be read, and the other side to hang up.
constexpr double kFarewellSeconds = 2;

}  // namespace

void Hub::listen() {
  const auto [host, port] = parse_network_address(options_.listen);
  std::error_code error;
  const auto place =
      asio::ip::tcp::endpoint(asio::ip::make_address(host.empty() ? "0.0.0.0" : host, error), port);
  if (!error) acceptor_.open(place.protocol(), error);
  if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_.bind(place, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) port_ = acceptor_.local_endpoint(error).port();
  if (!error) return;
  throw Error(ErrorCode::unavailable,
              fmt::format("cannot listen on {}: {}", options_.listen, error.message()),
              "give the address of an interface of this machine, or 0.0.0.0 for all, and a port that no "
              "other program has");
}

void Hub::accept_next() {
  acceptor_.async_accept([this](const std::error_code& error, asio::ip::tcp::socket socket) {
    if (stopped_ || leaving_ || !acceptor_.is_open()) return;
    if (!error) {
      admit(std::move(socket));
      return accept_next();
    }
    count("no_socket_left");
    const auto pause = std::make_shared<asio::steady_timer>(io_, kBreather);
    pause->async_wait([this, pause](const std::error_code&) {
      if (!stopped_ && acceptor_.is_open()) accept_next();
    });
  });
}

void Hub::admit(asio::ip::tcp::socket socket) {
  std::error_code error;
  const std::string address = socket.remote_endpoint(error).address().to_string();
  if (error || is_crowded(address)) return;  // closed at once: nothing of it is kept
  const auto channel = std::make_shared<Channel>(io_, *this, options_.mailbox.message_limit_bytes);
  channel->socket() = std::move(socket);
  channel->notes.address = address;
  channel->notes.deadline = in(options_.limits.handshake_seconds);
  pending_.insert(channel);
  ++from_address_[address];
  channel->start(tls_.accepting(channel->socket().native_handle()), tcp_patience());
}

bool Hub::is_crowded(const std::string& address) {
  std::size_t all = 0;
  for (const auto& [from, here] : from_address_) all += here;
  const auto found = from_address_.find(address);
  const std::size_t here = found == from_address_.end() ? 0 : found->second;
  if (all >= options_.limits.handshakes) {
    count("too_many_handshakes");
    return true;
  }
  if (here < options_.limits.handshakes_per_address) return false;
  count("too_many_from_address");
  return true;
}

void Hub::judge_hello(Channel& channel, std::span<const std::byte> payload) {
  const auto theirs = decode_greeting(payload);
  if (!theirs) return refuse(channel, RefuseCode::malformed);
  auto refusal = judge_greeting(*theirs, *channel.notes.member, greeting());
  const bool speaks_of_ours = theirs->federation == options_.federation;
  if (speaks_of_ours) board_.see_revision(theirs->revision);
  if (!refusal && *channel.notes.member == options_.self) refusal = RefuseCode::duplicate;
  if (!refusal && !theirs->probe) refusal = judge_link(channel, *theirs);
  if (refusal) return refuse(channel, *refusal);
  welcome(channel, *theirs);
}

// Whether there may be one more link to this member.
std::optional<RefuseCode> Hub::judge_link(const Channel& channel, const Greeting& theirs) {
  Member& from = member(*channel.notes.member);
  const auto now = Clock::now();
  if (now < from.barred_until) return RefuseCode::barred;
  const bool we_come_first = options_.self < from.info.number;
  if (from.link) {
    // A heartbeat is overdue: the link we have is probably dead, and its other end knows it.
    if (now - from.heard > std::chrono::duration<double>(1.5 * options_.heartbeat_seconds))
      return std::nullopt;
    if (theirs.boot != from.boot) return RefuseCode::duplicate;
    if (from.link->notes.dialled && we_come_first) return RefuseCode::tie;
  } else if (from.dial && from.dial->notes.greeting && we_come_first) {
    return RefuseCode::tie;  // ours will be welcome: the higher number never refuses it for a tie
  }
  return std::nullopt;
}

void Hub::refuse(Channel& channel, RefuseCode code) {
  count(to_string(code));
  channel.notes.refusal = to_string(code);
  if (code != RefuseCode::tie)
    tell_of_refusal(channel, fmt::format("it dialled, and was refused: {}", to_string(code)));
  channel.put(
      encode_refuse({.code = code, .revision = options_.revision, .text = std::string(to_string(code))}));
  channel.notes.deadline = std::min(channel.notes.deadline, in(kFarewellSeconds));
  channel.finish();
}

void Hub::tell_of_refusal(const Channel& channel, const std::string& text) {
  const auto found = members_.find(channel.notes.member.value_or(options_.self));
  // Of a member that is linked it is another process that was refused: no trouble of this one.
  if (found != members_.end() && !found->second->link) return trouble(*found->second, text);
  if (observer_ != nullptr) observer_->on_trouble(who(channel), text);
}

void Hub::welcome(Channel& channel, const Greeting& theirs) {
  auto ours = greeting(theirs.probe);
  const auto version = common_version(theirs, ours);
  ours.oldest_version = ours.newest_version = version;
  channel.put(encode_greeting(FrameType::welcome, ours));
  if (!theirs.probe) return link(channel, theirs, version);
  channel.notes.deadline = std::min(channel.notes.deadline, in(kFarewellSeconds));
  channel.finish();
}

}  // namespace dfrost

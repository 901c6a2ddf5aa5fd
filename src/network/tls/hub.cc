#include "network/tls/hub.h"

#include <fmt/format.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "dfrost/error.h"

namespace dfrost {
namespace {

BootId draw_boot_id() {
  BootId boot;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(boot.data()), static_cast<int>(boot.size())) != 1)
    throw Error(ErrorCode::internal, fmt::format("OpenSSL has no random numbers: {}", openssl_reason()));
  return boot;
}

Seed seed_from(const BootId& boot) {
  Seed seed = 0;
  std::memcpy(&seed, boot.data(), sizeof seed);
  return seed;
}

std::set<KeyFingerprint> keys_of(const WireOptions& options) {
  std::set<KeyFingerprint> keys;
  for (const auto& member : options.members) keys.insert(member.key);
  return keys;
}

std::string own_address_of(const WireOptions& options) {
  for (const auto& member : options.members) {
    if (member.number == options.self) return member.address;
  }
  return {};
}

double tick_seconds(const WireOptions& options) {
  return std::clamp(options.heartbeat_seconds / 10, 0.002, 0.05);
}

// A closed link would raise SIGPIPE at whoever writes to it, which OpenSSL cannot be asked not to; and
// Ctrl-C is for the program's own thread.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

Hub::Member::Member(const WireMember& of, const WireOptions& options)
    : info(of),
      outbox({.rounds_ahead = options.mailbox.rounds_ahead, .kept_bytes = options.limits.kept_bytes}),
      bytes(options.limits.bytes_per_second),
      frames(options.limits.frames_per_second) {}

Hub::Hub(WireOptions options, const PrivateKey& key, Mailbox& mailbox, Board& board, WireObserver* observer)
    : options_(std::move(options)),
      own_address_(own_address_of(options_)),
      mailbox_(mailbox),
      board_(board),
      observer_(observer),
      tls_(key, keys_of(options_)),
      boot_(draw_boot_id()),
      random_(seed_from(boot_), "back-off", options_.self),
      work_(asio::make_work_guard(io_)),
      ticks_(io_),
      acceptor_(io_),
      resolver_(io_),
      round_(options_.round) {
  pulse_.round = options_.round;
  pulse_.revision = options_.revision;
  for (const auto& one : options_.members) {
    numbers_[one.key] = one.number;
    if (one.number == options_.self) continue;
    auto made = std::make_unique<Member>(one, options_);
    // Where both can dial, the lower number does: otherwise every start would be a tie.
    if (options_.self > one.number && !own_address_.empty() && !options_.listen.empty())
      made->next_dial = in(options_.limits.yield_seconds);
    members_[one.number] = std::move(made);
  }
  if (!options_.listen.empty()) listen();
}

Hub::~Hub() {
  if (thread_.joinable()) {
    asio::post(io_, [this] { stop(); });
    thread_.join();
  }
}

void Hub::start() {
  thread_ = std::thread([this] {
    block_signals();
    if (acceptor_.is_open()) accept_next();
    run_tick();
    io_.run();
  });
}

void Hub::stop() {
  stopped_ = true;
  std::error_code ignored;
  acceptor_.close(ignored);
  resolver_.cancel();
  ticks_.cancel();
  for (auto& [number, one] : members_) {
    if (one->link) one->link->close();
  }
  for (const auto& channel : pending_) channel->close();
  work_.reset();
  io_.stop();
}

void Hub::run_tick() {
  if (stopped_) return;
  tick(Clock::now());
  ticks_.expires_after(
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(tick_seconds(options_))));
  ticks_.async_wait([this](const std::error_code& error) {
    if (!error) run_tick();
  });
}

void Hub::tick(Time now) {
  end_pending(now);
  for (auto& [number, one] : members_) tick_member(*one, now);
  check_settled();
}

void Hub::tick_member(Member& member, Time now) {
  if (member.link) {
    watch_link(member, now);
  } else if (!leaving_ && !member.dial && !member.info.address.empty() && now >= member.next_dial) {
    dial(member);
  }
  if (!member.gone && now - member.heard > std::chrono::duration<double>(options_.silence_seconds()))
    mark_gone(member);
}

void Hub::watch_link(Member& member, Time now) {
  const SharedChannel link = member.link;
  if (link->is_paused() && !member.bytes.is_empty(now) && !member.frames.is_empty(now)) link->resume();
  if (!link->is_open()) return;
  if (now - member.heard > std::chrono::duration<double>(options_.silence_seconds())) {
    count("silent");
    link->close(Ending::asked, "nothing came from it for too long");
  } else if (link->is_stuck(options_.silence_seconds())) {
    count("slow_reader");
    link->close(Ending::asked, "it does not read what we send");
  } else if (member.pulse_due ||
             now - member.pulse_at > std::chrono::duration<double>(options_.heartbeat_seconds)) {
    member.pulse_due = true;
    link->wake();
  }
}

// Handshakes that take too long, and channels that were told to end and whose other side would not.
void Hub::end_pending(Time now) {
  for (const auto& channel : pending_) {
    if (now < channel->notes.deadline) continue;
    channel->notes.deadline = Time::max();
    if (channel->is_open() && !channel->notes.dialled) {
      count("handshake_timeout");
      channel->notes.refusal = "handshake_timeout";
    }
    channel->close(Ending::asked, "it did not answer in time");
  }
}

void Hub::post_begin(Moment moment) {
  asio::post(io_, [this, moment] { begin(moment); });
}

void Hub::begin(Moment moment) {
  if (moment.round <= round_) return;
  round_ = moment.round;
  for (auto& [number, one] : members_) one->outbox.begin(moment.round);
  announce_pulse();
}

void Hub::post_send(ClientId number, Moment moment, SharedBytes message) {
  asio::post(io_, [this, number, moment, message = std::move(message)] {
    const auto found = members_.find(number);
    if (found == members_.end()) return;
    Member& to = *found->second;
    const std::size_t size = message->size();
    to.outbox.put(moment, message);
    board_.change(number, [&](PeerView& view) {
      ++view.sent_messages;
      view.sent_bytes += size;
    });
    if (to.link) to.link->wake();
  });
}

void Hub::post_tell(const Pulse& pulse) {
  asio::post(io_, [this, pulse] {
    const bool is_news = pulse.round != pulse_.round || pulse.stage != pulse_.stage;
    pulse_ = pulse;
    pulse_.revision = std::max(pulse.revision, options_.revision);
    if (is_news) announce_pulse();
  });
}

void Hub::post_linger() {
  asio::post(io_, [this] {
    lingering_ = true;
    check_settled();
  });
}

void Hub::post_goodbye(Farewell farewell) {
  asio::post(io_, [this, farewell] { say_goodbye(farewell); });
}

void Hub::check_settled() {
  if (!lingering_ && !leaving_) return;
  const bool settled = std::all_of(members_.begin(), members_.end(), [&](const auto& entry) {
    const Member& one = *entry.second;
    return leaving_ ? one.link == nullptr : one.gone || one.outbox.is_settled();
  });
  if (settled) board_.reach(leaving_ ? Milestone::parted : Milestone::settled);
}

void Hub::say_goodbye(Farewell farewell) {
  leaving_ = true;
  lingering_ = false;
  std::error_code ignored;
  acceptor_.close(ignored);
  for (const auto& channel : pending_) channel->close();
  for (auto& [number, one] : members_) {
    if (one->link == nullptr) continue;
    one->link->put(encode_bye(one->link->version(), farewell));
    one->link->finish();
  }
  check_settled();
}

Greeting Hub::greeting(bool probe) const {
  Greeting greeting;
  greeting.newest_version = options_.newest_version;
  greeting.probe = probe;
  greeting.number = options_.self;
  greeting.federation = options_.federation;
  greeting.revision = options_.revision;
  greeting.run = options_.run;
  greeting.boot = boot_;
  greeting.round = round_;
  greeting.software = options_.software;
  return greeting;
}

Hub::Member* Hub::linked_member(const Channel& channel) {
  if (!channel.notes.member || *channel.notes.member == options_.self) return nullptr;
  Member& one = member(*channel.notes.member);
  return one.link.get() == &channel ? &one : nullptr;
}

void Hub::trouble(Member& member, const std::string& text) {
  if (member.trouble == text) return;  // said once, not at every attempt
  member.trouble = text;
  board_.change(member.info.number, [&](PeerView& view) { view.trouble = text; });
  if (observer_ != nullptr && !text.empty()) observer_->on_trouble(member.info.name, text);
}

std::string Hub::who(const Channel& channel) const {
  if (channel.notes.member && members_.contains(*channel.notes.member))
    return members_.at(*channel.notes.member)->info.name;
  return channel.notes.address;
}

Hub::Time Hub::in(double seconds) const {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace dfrost

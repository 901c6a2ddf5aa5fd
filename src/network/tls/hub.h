// What a site's network thread does: accepts and dials, greets, keeps one link per member, carries letters
// and heartbeats over them, and refuses everything else by reason. Functions that begin with `post_` may be
// called from the owner's thread and take effect in the order of the calls; all others belong to the network
// thread. Its parts lie in hub.cc, hub_accept.cc, hub_dial.cc and hub_link.cc.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/random.h"
#include "network/tls/board.h"
#include "network/tls/channel.h"
#include "network/tls/hello.h"
#include "network/tls/meter.h"
#include "network/tls/outbox.h"
#include "network/tls/tls_context.h"

namespace dfrost {

class Hub final : public ChannelEvents {
 public:
  // Listens, but does nothing before start().
  Hub(WireOptions options, const PrivateKey& key, Mailbox& mailbox, Board& board, WireObserver* observer);
  ~Hub() override;

  void start();
  std::uint16_t port() const { return port_; }

  void post_begin(Moment moment);
  void post_send(ClientId member, Moment moment, SharedBytes message);
  void post_tell(const Pulse& pulse);
  // The board reaches "settled" once every letter is acknowledged or its receiver gone.
  void post_linger();
  // The board reaches "parted" once every link has ended.
  void post_goodbye(Farewell farewell);

  void on_secure(Channel& channel) override;
  void on_frame(Channel& channel, FrameType type, std::span<const std::byte> payload) override;
  bool on_letter_head(Channel& channel, const LetterHead& head) override;
  void on_letter(Channel& channel, const LetterHead& head, SharedBytes message) override;
  void on_fault(Channel& channel, FrameFault fault, const LetterHead& letter) override;
  void on_read(Channel& channel, std::size_t bytes) override;
  void on_idle(Channel& channel) override;
  void on_end(Channel& channel, Ending ending, const std::string& text) override;

 private:
  using Clock = Channel::Clock;
  using Time = Clock::time_point;
  using SharedChannel = std::shared_ptr<Channel>;

  struct Member {
    Member(const WireMember& of, const WireOptions& options);

    WireMember info;
    Outbox outbox;
    Meter bytes, frames;
    SharedChannel link;  // up
    SharedChannel dial;  // under way
    BootId boot = {};    // of the process we are or were linked to
    bool ever_linked = false;
    bool gone = false;
    Time heard = Clock::now();
    Time next_dial = Clock::now();
    unsigned failures = 0;
    Time barred_until = {};
    std::optional<Time> duplicate_since;  // refused as one ever since
    bool pulse_due = false;
    Time pulse_at = {};      // the last one written
    std::uint64_t echo = 0;  // the sent_at of the last pulse that came
    Time echo_at = {};
    std::string trouble;
  };

  // hub.cc
  void run_tick();
  void tick(Time now);
  void tick_member(Member& member, Time now);
  void watch_link(Member& member, Time now);
  void begin(Moment moment);
  void check_settled();
  void say_goodbye(Farewell farewell);
  Greeting greeting(bool probe = false) const;
  Member& member(ClientId number) { return *members_.at(number); }
  Member* linked_member(const Channel& channel);
  void count(std::string_view reason) { board_.count(reason); }
  void trouble(Member& member, const std::string& text);
  void end_pending(Time now);
  std::string who(const Channel& channel) const;
  Time in(double seconds) const;
  // TCP's own limit is only a second line: what we notice ourselves, we can count and explain.
  double tcp_patience() const { return 1.5 * options_.silence_seconds(); }
  void stop();

  // hub_accept.cc
  void listen();
  void accept_next();
  void admit(asio::ip::tcp::socket socket);
  bool is_crowded(const std::string& address);
  void judge_hello(Channel& channel, std::span<const std::byte> payload);
  std::optional<RefuseCode> judge_link(const Channel& channel, const Greeting& theirs);
  void refuse(Channel& channel, RefuseCode code);
  void tell_of_refusal(const Channel& channel, const std::string& text);
  void welcome(Channel& channel, const Greeting& theirs);

  // hub_dial.cc
  void dial(Member& member);
  void connect(Member& member, const SharedChannel& channel,
               const asio::ip::tcp::resolver::results_type& places);
  void dial_failed(Member& member, const std::string& text);
  void hear_welcome(Channel& channel, std::span<const std::byte> payload);
  void hear_refusal(Channel& channel, std::span<const std::byte> payload);
  void note_duplicate(Member& member);

  // hub_link.cc
  void link(Channel& channel, const Greeting& theirs, std::uint16_t version);
  void unlink(Member& member, const std::string& why);
  void heard(Member& member);
  void hear_pulse(Member& member, Channel& channel, std::span<const std::byte> payload);
  void hear_ack(Member& member, std::span<const std::byte> payload);
  void hear_bye(Member& member, std::span<const std::byte> payload);
  void mark_gone(Member& member);
  void write_pulse(Member& member, Channel& channel);
  bool may_pulse(const Member& member) const;
  void announce_pulse();
  void acknowledge(Channel& channel, Moment moment, Delivery delivery);
  // It broke the rules: the link ends, and it is not let in again for a while.
  void bar(Member& member, std::string_view reason, const std::string& text);

  const WireOptions options_;
  const std::string own_address_;
  Mailbox& mailbox_;
  Board& board_;
  WireObserver* const observer_;
  TlsContext tls_;
  BootId boot_ = {};
  RandomStream random_;  // of back-off alone
  std::map<KeyFingerprint, ClientId> numbers_;

  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer ticks_;
  asio::ip::tcp::acceptor acceptor_;
  asio::ip::tcp::resolver resolver_;
  std::uint16_t port_ = 0;
  std::map<ClientId, std::unique_ptr<Member>> members_;  // all but this one
  std::set<SharedChannel> pending_;                      // not yet a link, or finishing
  std::map<std::string, std::size_t> from_address_;      // of those that dialled us and are no link yet
  std::uint64_t round_;                                  // that the mailbox awaits
  Pulse pulse_;
  bool lingering_ = false, leaving_ = false, stopped_ = false;
  std::thread thread_;
};

}  // namespace dfrost

// probe_member(): one attempt to reach a member, with an event loop of its own.
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "base/stopwatch.h"
#include "network/tls/address.h"
#include "network/tls/channel.h"
#include "network/tls/hello.h"
#include "network/tls/tls_context.h"
#include "network/tls/tls_network.h"

namespace dfrost {
namespace {

// Writing to a connection that the other side has closed raises SIGPIPE; the caller's thread is spared it.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoBrokenPipe() {
    const timespec at_once{};
    while (sigtimedwait(&pipe_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

 private:
  sigset_t pipe_{}, before_{};
};

class Prober final : public ChannelEvents {
 public:
  Prober(const WireOptions& options, const PrivateKey& key, const WireMember& member)
      : options_(options),
        member_(member),
        tls_(key, {member.key}),
        resolver_(io_),
        channel_(std::make_shared<Channel>(io_, *this, 0)) {
    probe_.trouble = "it did not answer in time";
    probe_.hint = "a firewall may drop what we send: ask whether its port is open to this site";
  }

  Probe run(double timeout_seconds) {
    const Stopwatch watch;
    const auto [host, port] = parse_network_address(member_.address);
    resolver_.async_resolve(host, std::to_string(port), [this](const std::error_code& error, auto places) {
      if (error)
        return say(fmt::format("its name has no address: {}", error.message()), "check how it is written");
      connect(places);
    });
    io_.run_for(std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::duration<double>(timeout_seconds)));
    probe_.seconds = watch.seconds();
    return probe_;
  }

  void on_secure(Channel& channel) override {
    probe_.tls = true;
    Greeting greeting;
    greeting.newest_version = options_.newest_version;
    greeting.probe = true;
    greeting.number = options_.self;
    greeting.federation = options_.federation;
    greeting.revision = options_.revision;
    greeting.run = options_.run;
    greeting.round = options_.round;
    greeting.software = options_.software;
    channel.put(encode_greeting(FrameType::hello, greeting));
  }

  void on_frame(Channel& channel, FrameType type, std::span<const std::byte> payload) override {
    if (type == FrameType::welcome) {
      const auto theirs = decode_greeting(payload);
      probe_.welcomed = theirs.has_value();
      say(theirs ? "" : "its greeting cannot be read", theirs ? "" : "update the older dfrost of the two");
      if (theirs) probe_.software = theirs->software;
      if (theirs) probe_.revision = theirs->revision;
    } else if (const auto refuse = decode_refuse(payload); type == FrameType::refuse && refuse) {
      const auto advice = advice_on(*refuse, options_.revision);
      probe_.revision = refuse->revision;
      say(advice.trouble, advice.hint);
    } else {
      say("its greeting cannot be read", "update the older dfrost of the two");
    }
    channel.close();
  }

  void on_end(Channel&, Ending ending, const std::string& text) override {
    if (said_) return;
    if (ending == Ending::unknown_key) {
      say("who answers there has another key than the federation file says",
          "compare the fingerprint of its key by phone: it may be another machine, or somebody in between");
    } else if (probe_.tls) {
      say(fmt::format("it does not let us in: {}", text),
          "it may not have joined with a federation file that names our key");
    } else {
      say(fmt::format("no dfrost answers there: {}", text), "check the port, and what listens on it");
    }
  }

  bool on_letter_head(Channel&, const LetterHead&) override { return false; }
  void on_letter(Channel&, const LetterHead&, SharedBytes) override {}
  void on_fault(Channel&, FrameFault, const LetterHead&) override {}
  void on_read(Channel&, std::size_t) override {}
  void on_idle(Channel&) override {}

 private:
  void say(std::string trouble, std::string hint) {
    said_ = true;
    probe_.trouble = std::move(trouble);
    probe_.hint = std::move(hint);
  }

  void connect(const asio::ip::tcp::resolver::results_type& places) {
    asio::async_connect(channel_->socket(), places, [this](const std::error_code& error, const auto&) {
      if (error)
        return say(fmt::format("nobody answers there: {}", error.message()),
                   "is dfrost running there, and the address right?");
      probe_.reached = true;
      channel_->start(tls_.dialling(channel_->socket().native_handle(), member_.key),
                      options_.silence_seconds());
    });
  }

  const WireOptions& options_;
  const WireMember& member_;
  TlsContext tls_;
  asio::io_context io_;
  asio::ip::tcp::resolver resolver_;
  std::shared_ptr<Channel> channel_;
  Probe probe_;
  bool said_ = false;
};

}  // namespace

Probe probe_member(const WireOptions& options, const PrivateKey& key, ClientId member,
                   double timeout_seconds) {
  options.validate();
  const auto found = std::find_if(options.members.begin(), options.members.end(),
                                  [&](const WireMember& one) { return one.number == member; });
  if (found == options.members.end()) return {.trouble = "it is no member", .hint = ""};
  if (found->address.empty())
    return {.trouble = "it has no address: it dials us", .hint = "then this site needs one"};
  const NoBrokenPipe quiet;
  return Prober(options, key, *found).run(timeout_seconds);
}

}  // namespace dfrost

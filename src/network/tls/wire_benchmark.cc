#include "network/tls/wire_benchmark.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "base/stopwatch.h"
#include "dfrost/error.h"
#include "network/tls/tls_context.h"
#include "network/tls/tls_network.h"

namespace dfrost {
namespace {

[[noreturn]] void fail_benchmark(std::string_view doing) {
  throw Error(ErrorCode::unavailable,
              fmt::format("the benchmark could not {}: {}", doing, std::strerror(errno)));
}

// Two ends of a TCP connection on loopback.
class SocketPair {
 public:
  SocketPair() {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    const bool listens = listener >= 0 && ::bind(listener, raw, length) == 0 && ::listen(listener, 1) == 0 &&
                         ::getsockname(listener, raw, &length) == 0;
    ends[0] = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listens && ::connect(ends[0], raw, length) == 0) ends[1] = ::accept(listener, nullptr, nullptr);
    ::close(listener);
    if (ends[1] < 0) fail_benchmark("connect to itself");
    const int yes = 1;
    for (const int end : ends) ::setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  ~SocketPair() {
    for (const int end : ends) ::close(end);
  }
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;

  std::array<int, 2> ends = {-1, -1};
};

OwnedContext bare_context(const PrivateKey& key) {
  OwnedContext context(SSL_CTX_new(TLS_method()));
  use_tls13_only(context.get());
  SSL_CTX_use_certificate(context.get(), make_certificate(key).get());
  SSL_CTX_use_PrivateKey(context.get(), key.impl().key.get());
  return context;
}

void write_whole(SSL* session, const std::vector<std::byte>& bytes) {
  if (SSL_write(session, bytes.data(), static_cast<int>(bytes.size())) <= 0) fail_benchmark("write");
}

bool read_whole(SSL* session, std::vector<std::byte>& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const int count = SSL_read(session, bytes.data() + done, static_cast<int>(bytes.size() - done));
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

// Messages one after another until the time is over; counted where they arrive.
double bare_copy(const WireBenchmarkOptions& options) {
  const SocketPair sockets;
  const auto key = PrivateKey::generate();
  const auto context = bare_context(key);
  const OwnedSession sender(SSL_new(context.get())), receiver(SSL_new(context.get()));
  SSL_set_fd(sender.get(), sockets.ends[0]);
  SSL_set_fd(receiver.get(), sockets.ends[1]);
  double bytes_per_second = 0;
  std::thread reader([&] {
    std::vector<std::byte> bytes(options.message_bytes);
    if (SSL_accept(receiver.get()) != 1 || !read_whole(receiver.get(), bytes)) return;
    const Stopwatch watch;
    std::size_t messages = 0;
    while (read_whole(receiver.get(), bytes)) ++messages;
    bytes_per_second = static_cast<double>(messages * bytes.size()) / watch.seconds();
  });
  const bool secure = SSL_connect(sender.get()) == 1;
  const std::vector<std::byte> message(options.message_bytes, std::byte{1});
  const Stopwatch watch;
  while (secure && watch.seconds() < options.seconds) write_whole(sender.get(), message);
  SSL_shutdown(sender.get());
  ::shutdown(sockets.ends[0], SHUT_WR);
  reader.join();
  return bytes_per_second;
}

// Two sites on loopback.
class Pair {
 public:
  explicit Pair(std::size_t message_bytes) {
    WireOptions options;
    for (ClientId number = 0; number < 2; ++number)
      options.members.push_back({.number = number,
                                 .name = fmt::format("site-{}", number),
                                 .address = {},
                                 .key = keys_[number].fingerprint()});
    options.mailbox.message_limit_bytes = message_bytes;
    options.mailbox.rounds_ahead = kAhead;
    options.limits.bytes_per_second = options.limits.frames_per_second = 1e15;
    options.listen = "127.0.0.1:0";
    sites_[0] = std::make_unique<TlsNetwork>(options, keys_[0]);
    options.members[0].address = fmt::format("127.0.0.1:{}", sites_[0]->port());
    options.listen.clear();
    options.self = 1;
    sites_[1] = std::make_unique<TlsNetwork>(options, keys_[1]);
  }

  Exchange& operator[](ClientId site) { return sites_[site]->exchange(); }
  static bool receive(Exchange& exchange, ClientId from) {
    const std::array<ClientId, 1> peers = {from};
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    return exchange.receive(peers, deadline)[0].arrived();
  }

  static constexpr std::uint64_t kAhead = 8;

 private:
  std::array<PrivateKey, 2> keys_ = {PrivateKey::generate(), PrivateKey::generate()};
  std::array<std::unique_ptr<TlsNetwork>, 2> sites_;
};

double wire_copy(const WireBenchmarkOptions& options) {
  Pair pair(options.message_bytes);
  std::atomic<std::uint64_t> arrived{0};
  std::atomic<bool> over{false};
  double bytes_per_second = 0;
  std::thread reader([&] {
    Stopwatch watch;
    for (std::uint64_t round = 1; !over; ++round) {
      pair[1].begin({round, 0});
      if (!Pair::receive(pair[1], 0)) break;
      if (round == 1) watch = Stopwatch();  // without dialling and greeting
      bytes_per_second = static_cast<double>((round - 1) * options.message_bytes) / watch.seconds();
      arrived = round;
      arrived.notify_one();
    }
    over = true;
    arrived = ~std::uint64_t{0};
    arrived.notify_one();
  });
  const auto message = std::make_shared<const std::vector<std::byte>>(options.message_bytes, std::byte{1});
  Stopwatch watch;
  for (std::uint64_t round = 1; !over; ++round) {
    pair[0].begin({round, 0});
    pair[0].send(1, message);
    // As far ahead as a neighbour may be; the first alone, so that none is there before the clock starts.
    const std::uint64_t ahead = round == 1 ? 1 : Pair::kAhead;
    for (auto seen = arrived.load(); !over && round >= seen + ahead; seen = arrived.load())
      arrived.wait(seen);
    if (round == 1) watch = Stopwatch();
    if (watch.seconds() > options.seconds) over = true;
  }
  reader.join();
  return bytes_per_second;
}

// There and back again: half of it, and of all these the median.
double small_letter(const WireBenchmarkOptions& options) {
  Pair pair(options.small_bytes);
  constexpr std::uint64_t kRounds = 400;
  const auto message = std::make_shared<const std::vector<std::byte>>(options.small_bytes, std::byte{1});
  std::thread other([&] {
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      pair[1].begin({round, 0});
      if (!Pair::receive(pair[1], 0)) return;
      pair[1].send(0, message);
    }
  });
  std::vector<double> seconds;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    const Stopwatch watch;
    pair[0].begin({round, 0});
    pair[0].send(1, message);
    if (!Pair::receive(pair[0], 1)) break;
    seconds.push_back(watch.seconds() / 2);
  }
  other.join();
  if (seconds.size() < kRounds) fail_benchmark("exchange small letters");
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace

void WireBenchmarkOptions::validate() const {
  if (message_bytes == 0 || message_bytes > (1u << 30) || !(seconds > 0) || turns < 1)
    throw Error(ErrorCode::invalid_argument, "a benchmark of messages of 1 byte to 1 GiB, for some time");
}

WireBenchmark benchmark_wire(const WireBenchmarkOptions& options) {
  options.validate();
  WireBenchmark result;
  for (int turn = 0; turn < options.turns; ++turn) {
    result.bare_bytes_per_second = std::max(result.bare_bytes_per_second, bare_copy(options));
    result.wire_bytes_per_second = std::max(result.wire_bytes_per_second, wire_copy(options));
  }
  result.small_letter_seconds = small_letter(options);
  return result;
}

}  // namespace dfrost

#include "support/proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <deque>
#include <limits>
#include <list>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace dfrost::test {
namespace {

using ProxyClock = std::chrono::steady_clock;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// So much lies in the proxy at most, as in the buffers of a slow network.
constexpr std::size_t kMostHeld = 256 << 10;

void reset(int socket) {
  const linger at_once{1, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(socket);
}

}  // namespace

struct Proxy::Impl {
  // One direction of a connection: what was read and is not yet written.
  struct Way {
    int from = -1, to = -1;
    std::deque<std::pair<ProxyClock::time_point, std::string>> chunks = {};
    std::size_t held = 0;
    bool ended = false;   // the sender has closed
    bool closed = false;  // and so has the receiver been told
  };

  struct Connection {
    Way out, back;  // to the target and from it
  };

  int listener = -1;
  std::uint16_t port = 0;
  std::atomic<std::uint16_t> target{0};
  std::atomic<int> delay_ms{0};
  std::atomic<bool> stall_out{false}, stall_back{false}, refuses{false}, cuts{false}, half_closes{false};
  std::atomic<bool> stopped{false};
  std::atomic<std::size_t> open{0}, accepted{0}, forwarded{0};
  std::atomic<std::size_t> cut_at{std::numeric_limits<std::size_t>::max()};
  std::list<Connection> connections;
  std::thread thread;

  void run() {
    while (!stopped) {
      if (cuts.exchange(false)) drop_all();
      if (half_closes.exchange(false)) {
        for (auto& one : connections) {
          ::shutdown(one.out.to, SHUT_WR);
          one.out.ended = one.out.closed = true;
        }
      }
      wait();
      accept_one();
      for (auto one = connections.begin(); one != connections.end();) {
        const bool alive = move(one->out, stall_out) && move(one->back, stall_back);
        if (alive && !(one->out.closed && one->back.closed)) {
          ++one;
          continue;
        }
        reset(one->out.from);
        reset(one->out.to);
        one = connections.erase(one);
      }
      if (forwarded >= cut_at) {
        cut_at = std::numeric_limits<std::size_t>::max();
        drop_all();
      }
      open = connections.size();
    }
    drop_all();
  }

  void drop_all() {
    for (auto& one : connections) {
      reset(one.out.from);
      reset(one.out.to);
    }
    connections.clear();
    open = 0;
  }

  void wait() const {
    std::vector<pollfd> watched = {{listener, POLLIN, 0}};
    for (const auto& one : connections) {
      for (const Way* way : {&one.out, &one.back}) {
        const bool stalled = way == &one.out ? stall_out : stall_back;
        if (!stalled && !way->ended && way->held < kMostHeld) watched.push_back({way->from, POLLIN, 0});
        if (!stalled && !way->chunks.empty() && delay_ms == 0) watched.push_back({way->to, POLLOUT, 0});
      }
    }
    ::poll(watched.data(), watched.size(), 2);
  }

  void accept_one() {
    const int client = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0) return;
    ++accepted;
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = loopback(target);
    if (refuses || ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      reset(client);
      ::close(server);
      return;
    }
    ::fcntl(server, F_SETFL, O_NONBLOCK);
    const int yes = 1;
    for (const int socket : {client, server})
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    connections.push_back({{.from = client, .to = server}, {.from = server, .to = client}});
  }

  // False when the connection is broken.
  bool move(Way& way, bool stalled) {
    if (stalled) return true;
    std::array<char, 32 << 10> bytes;
    while (!way.ended && way.held < kMostHeld) {
      const ssize_t count = ::recv(way.from, bytes.data(), bytes.size(), 0);
      if (count < 0 && errno != EAGAIN) return false;
      if (count < 0) break;
      if (count == 0) way.ended = true;
      if (count == 0) break;
      way.chunks.emplace_back(ProxyClock::now() + std::chrono::milliseconds(delay_ms),
                              std::string(bytes.data(), static_cast<std::size_t>(count)));
      way.held += static_cast<std::size_t>(count);
    }
    while (!way.chunks.empty() && way.chunks.front().first <= ProxyClock::now() && forwarded < cut_at) {
      std::string& chunk = way.chunks.front().second;
      const ssize_t count = ::send(way.to, chunk.data(), chunk.size(), MSG_NOSIGNAL);
      if (count < 0) return errno == EAGAIN;
      forwarded += static_cast<std::size_t>(count);
      way.held -= static_cast<std::size_t>(count);
      chunk.erase(0, static_cast<std::size_t>(count));
      if (chunk.empty()) way.chunks.pop_front();
    }
    if (way.ended && way.chunks.empty() && !way.closed) {
      ::shutdown(way.to, SHUT_WR);
      way.closed = true;
    }
    return true;
  }
};

Proxy::Proxy(std::uint16_t target_port) : impl_(std::make_unique<Impl>()) {
  impl_->target = target_port;
  impl_->listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  auto address = loopback(0);
  socklen_t length = sizeof address;
  if (::bind(impl_->listener, reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::listen(impl_->listener, 128) != 0 ||
      ::getsockname(impl_->listener, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::runtime_error("no port for a proxy");
  impl_->port = ntohs(address.sin_port);
  impl_->thread = std::thread([this] { impl_->run(); });
}

Proxy::~Proxy() {
  impl_->stopped = true;
  impl_->thread.join();
  ::close(impl_->listener);
}

std::uint16_t Proxy::port() const { return impl_->port; }
void Proxy::set_target(std::uint16_t port) { impl_->target = port; }
void Proxy::set_delay_ms(int delay_ms) { impl_->delay_ms = delay_ms; }
void Proxy::stall(bool to_target, bool to_client) {
  impl_->stall_out = to_target;
  impl_->stall_back = to_client;
}
void Proxy::refuse(bool refuses) { impl_->refuses = refuses; }
void Proxy::cut() { impl_->cuts = true; }
void Proxy::half_close() { impl_->half_closes = true; }
void Proxy::cut_after(std::size_t bytes) { impl_->cut_at = impl_->forwarded + bytes; }
std::size_t Proxy::connections() const { return impl_->open; }
std::size_t Proxy::accepted() const { return impl_->accepted; }
std::size_t Proxy::forwarded_bytes() const { return impl_->forwarded; }

}  // namespace dfrost::test

#include "base/http_server.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"

namespace dfrost {
namespace {

using std::chrono::milliseconds;

constexpr int kWaiting = 64;  // connections that the system keeps for us
constexpr milliseconds kLinger{1'000};
constexpr milliseconds kPause{100};
constexpr milliseconds kStreamsAsked{100};  // how often streams with nothing to say are asked again

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 413: return "Content Too Large";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Internal Server Error";
  }
}

std::string head_of(const HttpAnswer& answer) {
  std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
      "Connection: close\r\n",
      answer.status, reason_of(answer.status), answer.type);
  if (answer.status == 405) head += "Allow: GET, HEAD\r\n";
  // A stream ends with its connection.
  if (!answer.stream) head += fmt::format("Content-Length: {}\r\n", answer.body ? answer.body->size() : 0);
  return head + "\r\n";
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string_view take_until(std::string_view& text, std::string_view end) {
  const auto at = std::min(text.find(end), text.size());
  const auto part = text.substr(0, at);
  text.remove_prefix(std::min(at + end.size(), text.size()));
  return part;
}

struct ParsedHead {
  int status = 200;  // else: why it is refused
  bool only_head = false;
  HttpRequestHead request = {};
};

// "GET /path?query HTTP/1.1" and headers, each line ended by CR LF.
ParsedHead parse_head(std::string_view head) {
  ParsedHead parsed;
  std::string_view line = take_until(head, "\r\n");
  const auto method = take_until(line, " ");
  const auto target = take_until(line, " ");
  if (!line.starts_with("HTTP/1.") || target.empty()) return {.status = 400};
  if (method != "GET" && method != "HEAD") return {.status = 405};
  parsed.only_head = method == "HEAD";
  parsed.request.path = std::string(target.substr(0, target.find_first_of("?#")));
  while (!head.empty()) {
    auto value = take_until(head, "\r\n");
    const bool has_colon = value.find(':') != std::string_view::npos;
    const std::string name = lower_case(std::string(take_until(value, ":")));
    if (!has_colon || name.empty()) return {.status = 400};
    // Nobody who asks for a page has anything to send.
    if (name == "transfer-encoding" || (name == "content-length" && trimmed(value) != "0"))
      return {.status = 413};
    if (name != "host") continue;
    if (!parsed.request.host.empty()) return {.status = 400};
    parsed.request.host = std::string(trimmed(value));
  }
  return parsed;
}

int listen_on(const addrinfo& address) {
  const int fd = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int yes = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(fd, address.ai_addr, address.ai_addrlen) == 0 && ::listen(fd, kWaiting) == 0) return fd;
  const int error = errno;
  ::close(fd);
  errno = error;
  return -1;
}

int open_listener(const std::string& host, int port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  int error = EADDRNOTAVAIL;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) == 0) {
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, ::freeaddrinfo);
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
      if (const int fd = listen_on(*one); fd >= 0) return fd;
      error = errno;
    }
  }
  throw std::system_error(error, std::generic_category(), "cannot listen");
}

int port_of(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace

HttpAnswer http_text(int status, std::string text) {
  return {.status = status, .body = std::make_shared<const std::string>(std::move(text))};
}

struct HttpServer::Connection {
  enum class State { reading, sending, closing, gone };

  Connection(int socket, Clock::time_point until) : fd(socket), deadline(until) {}
  ~Connection() { ::close(fd); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // What is left to send, as up to three texts one after the other.
  std::string_view unsent() const {
    const std::array<std::string_view, 3> texts = {
        piece.before, piece.body ? *piece.body : std::string_view(), piece.after};
    std::size_t skipped = sent;
    for (const auto text : texts) {
      if (skipped < text.size()) return text.substr(skipped);
      skipped -= text.size();
    }
    return {};
  }

  int fd;
  State state = State::reading;
  Clock::time_point deadline;  // by which the state must have changed, or a byte gone
  std::string head;
  HttpPiece piece;
  std::size_t sent = 0;  // of the piece
  std::function<bool(HttpPiece&)> stream;
};

HttpServer::HttpServer(const std::string& host, int port, Handler handler, HttpLimits limits)
    : handler_(std::move(handler)),
      limits_(limits),
      listener_(open_listener(host, port)),
      port_(port_of(listener_)) {}

HttpServer::~HttpServer() { ::close(listener_); }

void HttpServer::serve_for(milliseconds time) {
  const auto until = Clock::now() + time;
  do {
    wait_and_serve(until);
    accept_all();
    std::erase_if(connections_, [](const Connection& c) { return c.state == Connection::State::gone; });
  } while (Clock::now() < until);
}

// Waits for whatever comes first, and serves those connections that have something to do or whose time is up.
void HttpServer::wait_and_serve(Clock::time_point until) {
  using State = Connection::State;
  std::vector<pollfd> polled = {
      {listener_, static_cast<short>(Clock::now() < accept_after_ ? 0 : POLLIN), 0}};
  auto first = std::min(until, Clock::now() + kStreamsAsked);
  for (const Connection& c : connections_) {
    const bool has_more = c.state == State::sending && !c.unsent().empty();
    // Whoever waits for an answer may have said all they have to say: that is no news again and again.
    const bool listens = c.state != State::sending || c.stream;
    polled.push_back({c.fd, static_cast<short>((listens ? POLLIN : 0) | (has_more ? POLLOUT : 0)), 0});
    if (c.state != State::sending || has_more) first = std::min(first, c.deadline);
  }
  const auto left = std::chrono::ceil<milliseconds>(first - Clock::now()).count();
  const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(std::max<long>(0, left)));
  const auto now = Clock::now();
  for (std::size_t i = 1; Connection & connection : connections_) {
    const short events = ready > 0 ? polled[i].revents : short{0};
    ++i;
    try {
      serve(connection, events, now);
    } catch (const std::exception&) {  // out of memory, say: theirs alone
      connection.state = State::gone;
    }
  }
}

void HttpServer::accept_all() {
  using State = Connection::State;
  if (Clock::now() < accept_after_) return;
  // As many as there may be, and no more: who comes faster than that must not keep the others from being
  // served.
  for (std::size_t i = 0; i < limits_.connections; ++i) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        accept_after_ = Clock::now() + kPause;
      return;
    }
    connections_.emplace_back(fd, Clock::now() + limits_.head);
    if (connections_.size() <= limits_.connections) continue;
    const auto slowest =
        std::ranges::find_if(connections_, [](const Connection& c) { return c.state != State::sending; });
    connections_.erase(slowest);  // at worst the one that just came
  }
}

void HttpServer::serve(Connection& connection, short events, Clock::time_point now) {
  using State = Connection::State;
  if (connection.state == State::reading) {
    if (events != 0) read_head(connection);
    if (connection.state == State::sending) send_some(connection);
  } else if (connection.state == State::sending) {
    // A viewer that goes says so by an end that can be read; one that says anything else is none.
    if ((events & (POLLERR | POLLHUP | POLLIN)) != 0) {
      connection.state = State::gone;
    } else {
      send_some(connection);
    }
  } else if (connection.state == State::closing && events != 0) {
    // Closed over unread bytes, the system would take back what is still on its way to them.
    std::array<char, 4096> ignored{};
    const ssize_t got = ::recv(connection.fd, ignored.data(), ignored.size(), 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) connection.state = State::gone;
  }
  const bool idle_stream =
      connection.state == State::sending && connection.stream && connection.unsent().empty();
  if (now >= connection.deadline && !idle_stream) connection.state = State::gone;
}

void HttpServer::read_head(Connection& connection) {
  std::array<char, 2048> buffer{};
  const ssize_t got = ::recv(connection.fd, buffer.data(), buffer.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    connection.state = Connection::State::gone;
    return;
  }
  connection.head.append(buffer.data(), static_cast<std::size_t>(got));
  const bool whole = connection.head.find("\r\n\r\n") != std::string::npos;
  if (whole || connection.head.size() > limits_.head_bytes) answer(connection);
}

void HttpServer::answer(Connection& connection) {
  std::string_view rest = connection.head;
  const bool fits = rest.find("\r\n\r\n") <= limits_.head_bytes;
  bool only_head = false;
  HttpAnswer answer =
      fits ? answer_to(take_until(rest, "\r\n\r\n"), only_head) : http_text(431, "the request is too long\n");
  connection.head = {};
  if (answer.stream && open_streams() >= limits_.streams) answer = http_text(503, "too many viewers\n");
  connection.state = Connection::State::sending;
  connection.deadline = Clock::now() + limits_.stall;
  connection.piece.body = only_head ? nullptr : answer.body;
  if (held_bytes() > limits_.held_bytes) {
    answer = http_text(503, "too much is on its way already\n");
    connection.piece.body = answer.body;
  }
  connection.piece.before = head_of(answer);
  if (!only_head) connection.stream = std::move(answer.stream);
}

HttpAnswer HttpServer::answer_to(std::string_view head, bool& only_head) {
  const auto parsed = parse_head(head);
  only_head = parsed.only_head;
  if (parsed.status == 413) return http_text(413, "nothing can be sent here\n");
  if (parsed.status != 200) return http_text(parsed.status, "this is no request that is answered here\n");
  return handler_(parsed.request);
}

void HttpServer::send_some(Connection& connection) {
  while (!connection.unsent().empty() || take_more(connection)) {
    const auto text = connection.unsent();
    const ssize_t put = ::send(connection.fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      if (errno != EAGAIN) connection.state = Connection::State::gone;
      return;
    }
    connection.sent += static_cast<std::size_t>(put);
    connection.deadline = Clock::now() + limits_.stall;
  }
  if (connection.stream) return;
  ::shutdown(connection.fd, SHUT_WR);
  connection.piece = {};
  connection.state = Connection::State::closing;
  connection.deadline = Clock::now() + kLinger;
}

bool HttpServer::take_more(Connection& connection) {
  if (!connection.stream) return false;
  connection.piece = {};
  connection.sent = 0;
  if (!connection.stream(connection.piece)) return false;
  connection.deadline = Clock::now() + limits_.stall;
  return true;
}

std::size_t HttpServer::held_bytes() const {
  std::set<const std::string*> seen;
  std::size_t bytes = 0;
  for (const Connection& connection : connections_) {
    const auto& body = connection.piece.body;
    if (body && seen.insert(body.get()).second) bytes += body->size();
  }
  return bytes;
}

std::size_t HttpServer::open_streams() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(connections_, [](const Connection& c) { return static_cast<bool>(c.stream); }));
}

}  // namespace dfrost

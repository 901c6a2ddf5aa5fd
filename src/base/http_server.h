// A small HTTP server on one thread: GET and HEAD, an answer or a stream of events, and the connection is
// closed. It reads no body, knows no ranges and keeps nothing that a stranger sends beyond the head of a
// request. What strangers can make it hold is bounded, before it is held, by HttpLimits; none of them can
// make another wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

namespace dfrost {

struct HttpLimits {
  std::size_t connections = 256;           // beyond it, who has waited longest to say what they want must go
  std::size_t streams = 128;               // that are open at once; more get 503
  std::size_t head_bytes = 8192;           // of a request: line and headers
  std::size_t held_bytes = 256u << 20;     // of answers on their way, each text counted once; more get 503
  std::chrono::milliseconds head{5'000};   // for all of a request's head, however it drips
  std::chrono::milliseconds stall{5'000};  // without taking a byte of what is sent
};

using SharedText = std::shared_ptr<const std::string>;

// What a stream says next: a small text before and after a large one that streams share.
struct HttpPiece {
  std::string before = {};
  SharedText body = {};
  std::string after = {};
};

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain";
  SharedText body = {};  // null: none
  // Makes it a stream: asked again and again, once what it gave before is sent. False: nothing for now.
  std::function<bool(HttpPiece&)> stream = {};
};

HttpAnswer http_text(int status, std::string text);

struct HttpRequestHead {
  std::string path;  // without a query
  std::string host;  // as the header has it; empty where there is none
};

class HttpServer {
 public:
  using Handler = std::function<HttpAnswer(const HttpRequestHead&)>;

  // Listens from here on, on a name or address and a port, 0 for any that is free. Throws std::system_error
  // with the system's reason.
  HttpServer(const std::string& host, int port, Handler handler, HttpLimits limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }
  // Does what there is to do, and waits for more until the time is up.
  void serve_for(std::chrono::milliseconds time);

 private:
  using Clock = std::chrono::steady_clock;
  struct Connection;

  void wait_and_serve(Clock::time_point until);
  void accept_all();
  void serve(Connection& connection, short events, Clock::time_point now);
  void read_head(Connection& connection);
  void answer(Connection& connection);
  HttpAnswer answer_to(std::string_view head, bool& only_head);
  void send_some(Connection& connection);
  bool take_more(Connection& connection);
  std::size_t held_bytes() const;
  std::size_t open_streams() const;

  Handler handler_;
  HttpLimits limits_;
  int listener_ = -1;
  int port_ = 0;
  Clock::time_point accept_after_;     // descriptors may run out for a while
  std::list<Connection> connections_;  // in the order in which they came
};

}  // namespace dfrost

#include "report/watch_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>

#include "base/http_server.h"
#include "dfrost/error.h"
#include "report/document.h"
#include "report/live_feed.h"

namespace dfrost {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPollEvery{200};
// An empty line now and then finds out who has gone.
constexpr milliseconds kHeartbeat{2'000};

bool is_address(const std::string& host) {
  in_addr four{};
  in6_addr six{};
  return ::inet_pton(AF_INET, host.c_str(), &four) == 1 || ::inet_pton(AF_INET6, host.c_str(), &six) == 1;
}

Error cannot_listen(const WatchOptions& options, int error) {
  const auto place = fmt::format("{}:{}", options.host, options.port);
  if (error == EADDRINUSE) {
    return Error(ErrorCode::unavailable, fmt::format("port {} is in use", options.port),
                 "give another with --port, or --port 0 for any that is free")
        .at(place);
  }
  if (error == EACCES) {
    return Error(ErrorCode::unavailable, fmt::format("port {} is not for everybody", options.port),
                 "give one above 1023")
        .at(place);
  }
  return Error(ErrorCode::unavailable, fmt::format("cannot listen on {}", place),
               "--host takes an address or a name of this machine")
      .at(place);
}

}  // namespace

bool is_own_host(std::string_view header, std::string_view listening_on) {
  std::string host(header);
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    host = end == std::string::npos ? "" : host.substr(1, end - 1);
  } else {
    host = host.substr(0, host.find(':'));
  }
  return host == "localhost" || host == listening_on || is_address(host);
}

struct WatchServer::Server {
  Server(const std::filesystem::path& run, const WatchOptions& options) : feed(run), host(options.host) {}

  HttpAnswer answer(const HttpRequestHead& request);
  HttpAnswer events();

  LiveFeed feed;
  std::string host;
  std::optional<HttpServer> http;
};

HttpAnswer WatchServer::Server::answer(const HttpRequestHead& request) {
  if (!is_own_host(request.host, host)) return http_text(403, "this name is not that of the server\n");
  if (request.path == "/") return {.type = "text/html; charset=utf-8", .body = feed.page()};
  if (request.path == "/data.json") return {.type = "application/json", .body = feed.document()};
  if (request.path == "/events") return events();
  if (request.path == "/favicon.ico") return {.status = 204};  // browsers ask for it unasked
  return http_text(404, "there is nothing here; the report is at /\n");
}

HttpAnswer WatchServer::Server::events() {
  using Clock = std::chrono::steady_clock;
  return {.type = "text/event-stream",
          .stream = [this, next = std::uint64_t{0}, spoke = Clock::now()](HttpPiece& piece) mutable {
            const auto event = feed.wait(next, milliseconds(0));
            if (!event.json && Clock::now() - spoke < kHeartbeat) return false;
            spoke = Clock::now();
            if (!event.json) {
              piece.before = ":\n\n";
              return true;
            }
            // The first also says how soon to come back after an end, in milliseconds.
            piece = {fmt::format("{}data: ", next == 0 ? "retry: 1000\n" : ""), event.json, "\n\n"};
            next = event.next;
            return true;
          }};
}

WatchServer::WatchServer(const std::filesystem::path& run, const WatchOptions& options)
    : server_(std::make_unique<Server>(run, options)) {
  require_page();
  try {
    server_->http.emplace(options.host, options.port,
                          [this](const HttpRequestHead& request) { return server_->answer(request); });
  } catch (const std::system_error& error) {
    throw cannot_listen(options, error.code().value());
  }
}

WatchServer::~WatchServer() = default;

int WatchServer::port() const { return server_->http->port(); }

void WatchServer::serve_until(const std::function<bool()>& stopped) {
  while (!stopped()) {
    try {
      server_->feed.poll();
    } catch (const std::exception&) {
      // The folder went away while it was read, or there is no memory for what is in it. Who watches sees
      // what there was, and it is looked at again.
    }
    server_->http->serve_for(kPollEvery);
  }
  server_->feed.close();
  server_->http.reset();
}

}  // namespace dfrost

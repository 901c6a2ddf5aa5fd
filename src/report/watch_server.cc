#include "report/watch_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "dfrost/error.h"
#include "report/document.h"
#include "report/live_feed.h"

namespace dfrost {
namespace {

using std::chrono::milliseconds;

// A viewer holds a connection, and with it a thread that mostly sleeps.
constexpr int kMostViewers = 128;
constexpr int kThreads = kMostViewers + 32;
constexpr milliseconds kPollEvery{200};
// An empty line now and then finds out who has gone.
constexpr milliseconds kHeartbeat{2000};
constexpr int kSlowestSeconds = 5;  // a viewer that takes longer to read or write is let go

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
  explicit Server(const std::filesystem::path& run) : feed(run) {}

  void declare(const WatchOptions& options);
  void send_events(httplib::Response& response);

  LiveFeed feed;
  httplib::Server http;
  std::atomic<int> viewers = 0;
  int port = 0;
};

void WatchServer::Server::declare(const WatchOptions& options) {
  http.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  http.set_keep_alive_timeout(kSlowestSeconds);
  http.set_read_timeout(kSlowestSeconds);
  http.set_write_timeout(kSlowestSeconds);
  http.set_payload_max_length(0);
  // Not the library's own choice, which lets two servers share a port.
  http.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  http.set_default_headers({{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});
  http.set_pre_routing_handler([host = options.host](const httplib::Request& request, auto& response) {
    if (is_own_host(request.get_header_value("Host"), host))
      return httplib::Server::HandlerResponse::Unhandled;
    response.status = 403;
    response.set_content("this name is not that of the server\n", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  });
  http.Get("/", [this](const auto&, auto& response) {
    response.set_content(feed.page(), "text/html; charset=utf-8");
  });
  http.Get("/data.json", [this](const auto&, auto& response) {
    response.set_content(feed.document(), "application/json");
  });
  http.Get("/events", [this](const auto&, auto& response) { send_events(response); });
  // Browsers ask for it unasked.
  http.Get("/favicon.ico", [](const auto&, auto& response) { response.status = 204; });
  http.set_error_handler([](const auto&, auto& response) {
    if (response.body.empty())
      response.set_content("there is nothing here; the report is at /\n", "text/plain");
  });
}

void WatchServer::Server::send_events(httplib::Response& response) {
  if (++viewers > kMostViewers) {
    --viewers;
    response.status = 503;
    response.set_content("too many viewers\n", "text/plain");
    return;
  }
  response.set_chunked_content_provider(
      "text/event-stream",
      [this, next = std::uint64_t{0}](std::size_t, httplib::DataSink& sink) mutable {
        const auto event = feed.wait(next, kHeartbeat);
        if (event.closed) {
          sink.done();
          return true;
        }
        std::string text = ":\n\n";
        if (event.json) {
          // The first also says how soon to come back after an end, in milliseconds.
          text = fmt::format("{}data: {}\n\n", next == 0 ? "retry: 1000\n" : "", *event.json);
        }
        next = event.next;
        return sink.write(text.data(), text.size());
      },
      [this](bool) { --viewers; });
}

WatchServer::WatchServer(const std::filesystem::path& run, const WatchOptions& options)
    : server_(std::make_unique<Server>(run)) {
  require_page();
  server_->declare(options);
  errno = 0;
  if (options.port == 0) {
    server_->port = server_->http.bind_to_any_port(options.host);
  } else {
    server_->port = server_->http.bind_to_port(options.host, options.port) ? options.port : -1;
  }
  if (server_->port <= 0) throw cannot_listen(options, errno);
}

WatchServer::~WatchServer() = default;

int WatchServer::port() const { return server_->port; }

void WatchServer::serve_until(const std::function<bool()>& stopped) {
  std::atomic<bool> ended = false;
  std::thread answering([&] {
    server_->http.listen_after_bind();
    ended = true;
  });
  while (!stopped()) {
    server_->feed.poll();
    std::this_thread::sleep_for(kPollEvery);
  }
  server_->feed.close();
  // Only what runs can be stopped.
  while (!server_->http.is_running() && !ended) std::this_thread::sleep_for(milliseconds(1));
  server_->http.stop();
  answering.join();
}

}  // namespace dfrost

#include "peer/metrics_server.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "base/http_server.h"
#include "base/stopwatch.h"
#include "dfrost/error.h"
#include "federation/names.h"

namespace dfrost {
namespace {

// How soon it notices that it is to end.
constexpr std::chrono::milliseconds kTurn{50};

}  // namespace

struct MetricsServer::Server {
  std::optional<HttpServer> http;
  std::mutex mutex;
  PeerStatus status;
  std::atomic<bool> ends = false;
  std::thread answering;

  HttpAnswer answer(const HttpRequestHead& request);
};

HttpAnswer MetricsServer::Server::answer(const HttpRequestHead& request) {
  const std::lock_guard lock(mutex);
  if (request.path == "/metrics")
    return {.type = "text/plain; version=0.0.4; charset=utf-8",
            .body = std::make_shared<const std::string>(metrics_text(status))};
  if (request.path == "/health") {
    const auto health = health_of(status, true, seconds_since_1970());
    return http_text(is_healthy(health) ? 200 : 503, std::string(to_string(health)) + "\n");
  }
  return http_text(404, "there are /metrics and /health\n");
}

MetricsServer::MetricsServer(const std::string& address) : server_(std::make_unique<Server>()) {
  auto [host, port] = parse_listen_address(address);
  if (host.empty()) host = "127.0.0.1";
  try {
    server_->http.emplace(host, port,
                          [this](const HttpRequestHead& request) { return server_->answer(request); });
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::unavailable,
                fmt::format("cannot serve metrics on {}: {}", address, error.code().message()),
                "give an address of this machine and a port that is free, by --metrics or in peer.toml")
        .at("metrics");
  }
  server_->answering = std::thread([this] {
    while (!server_->ends) server_->http->serve_for(kTurn);
  });
}

MetricsServer::~MetricsServer() {
  server_->ends = true;
  server_->answering.join();
}

int MetricsServer::port() const { return server_->http->port(); }

void MetricsServer::show(const PeerStatus& status) {
  const std::lock_guard lock(server_->mutex);
  server_->status = status;
}

}  // namespace dfrost

#include "peer/metrics_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "base/stopwatch.h"
#include "dfrost/error.h"
#include "federation/names.h"

namespace dfrost {
namespace {

constexpr int kMetricsThreads = 2;
constexpr int kPatienceSeconds = 5;

}  // namespace

struct MetricsServer::Server {
  httplib::Server http;
  std::mutex mutex;
  PeerStatus status;
  std::thread answering;
  std::atomic<bool> ended = false;
  int port = 0;

  PeerStatus shown() {
    const std::lock_guard lock(mutex);
    return status;
  }
};

MetricsServer::MetricsServer(const std::string& address) : server_(std::make_unique<Server>()) {
  auto [host, port] = parse_listen_address(address);
  if (host.empty()) host = "127.0.0.1";
  auto& http = server_->http;
  http.new_task_queue = [] { return new httplib::ThreadPool(kMetricsThreads); };
  http.set_read_timeout(kPatienceSeconds);
  http.set_write_timeout(kPatienceSeconds);
  http.set_keep_alive_timeout(kPatienceSeconds);
  http.set_payload_max_length(0);
  http.Get("/metrics", [this](const auto&, auto& response) {
    response.set_content(metrics_text(server_->shown()), "text/plain; version=0.0.4; charset=utf-8");
  });
  http.Get("/health", [this](const auto&, auto& response) {
    const auto health = health_of(server_->shown(), true, seconds_since_1970());
    response.status = is_healthy(health) ? 200 : 503;
    response.set_content(std::string(to_string(health)) + "\n", "text/plain");
  });
  server_->port = port == 0 ? http.bind_to_any_port(host) : (http.bind_to_port(host, port) ? port : -1);
  if (server_->port <= 0)
    throw Error(ErrorCode::unavailable, fmt::format("cannot serve metrics on {}", address),
                "give an address of this machine and a port that is free, by --metrics or in peer.toml")
        .at("metrics");
  server_->answering = std::thread([this] {
    server_->http.listen_after_bind();
    server_->ended = true;
  });
}

MetricsServer::~MetricsServer() {
  // Only what runs can be stopped.
  while (!server_->http.is_running() && !server_->ended)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  server_->http.stop();
  server_->answering.join();
}

int MetricsServer::port() const { return server_->port; }

void MetricsServer::show(const PeerStatus& status) {
  const std::lock_guard lock(server_->mutex);
  server_->status = status;
}

}  // namespace dfrost

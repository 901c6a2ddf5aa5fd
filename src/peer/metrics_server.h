// A site's metrics over HTTP, for Prometheus: /metrics, and /health, which answers 200 while it merges and
// 503 where it does not. Read-only, and it serves nothing else.
#pragma once

#include <memory>
#include <string>

#include "peer/status.h"

namespace dfrost {

class MetricsServer {
 public:
  // "127.0.0.1:9464"; without a host on this machine alone, with port 0 on any that is free. Throws
  // (unavailable) where it cannot listen there.
  explicit MetricsServer(const std::string& address);
  ~MetricsServer();

  int port() const;
  void show(const PeerStatus& status);  // from here on; any thread

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace dfrost

// A run under way in the browser: HTTP on this machine, the page at /, server-sent events at /events. It
// serves what LiveFeed makes and no file by name, so no request can reach one. A request whose Host is a name
// other than ours is refused: a page of another site that had its name resolved to this machine would
// otherwise read along (DNS rebinding). One thread does all of it (base/http_server.h says within which
// limits).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace dfrost {

struct WatchOptions {
  std::string host = "127.0.0.1";
  int port = 8765;  // 0: any that is free
};

// Whether a Host header names this machine: an address, localhost, or what the server was told to listen on.
bool is_own_host(std::string_view header, std::string_view listening_on);

class WatchServer {
 public:
  // Listens from here on. Throws (unavailable) where the port is taken or the host is not ours, and
  // (failed_precondition) where there is no page to serve.
  WatchServer(const std::filesystem::path& run, const WatchOptions& options);
  ~WatchServer();

  int port() const;
  // Answers until `stopped` says so; asked several times a second.
  void serve_until(const std::function<bool()>& stopped);

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace dfrost

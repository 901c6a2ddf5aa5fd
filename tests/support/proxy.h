// A bad network between two honest programs: a TCP proxy on loopback that forwards to one port, later, not at
// all, or until it is told to cut. Runs on a thread of its own; every function may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace dfrost::test {

class Proxy {
 public:
  // Listens on a free port of 127.0.0.1.
  explicit Proxy(std::uint16_t target_port = 0);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  std::uint16_t port() const;
  void set_target(std::uint16_t port);

  // Each chunk of bytes arrives so much later, both ways.
  void set_delay_ms(int delay_ms);
  // Nothing is forwarded any more, but nobody is told: a half-open connection. `to_target` or back, or both.
  void stall(bool to_target, bool to_client);
  // New connections are closed at once.
  void refuse(bool refuses);
  // All connections are reset, now.
  void cut();
  // No more bytes to the target on any connection, which is told so; the way back stays open.
  void half_close();
  // All connections are reset once so many more bytes were forwarded: in the middle of something.
  void cut_after(std::size_t bytes);

  std::size_t connections() const;  // open ones
  std::size_t accepted() const;     // since the beginning
  std::size_t forwarded_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dfrost::test

// Somebody who connects to a site and says whatever a test wants said: bare bytes, TLS with any key or none,
// and after it frames of any form. Blocking, with a time limit, and silent about failures: what it got is a
// value.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "network/tls/frame.h"
#include "network/tls/hello.h"
#include "network/tls/openssl.h"
#include "network/tls/tls_context.h"

namespace dfrost::test {

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    ::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets that the other side has closed
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() {
    session_.reset();
    ::close(socket_);
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return connected_; }
  int socket() const { return socket_; }

  bool send_bare(const std::string& bytes) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  // Until the other side closes: how many bytes came before.
  std::size_t read_to_end() {
    std::size_t all = 0;
    char bytes[4096];
    for (ssize_t count = 0; (count = ::recv(socket_, bytes, sizeof bytes, 0)) > 0;)
      all += static_cast<std::size_t>(count);
    return all;
  }

  // TLS as a client, with this key or without one, at up to this version. In TLS 1.3 it may succeed although
  // the other side will refuse the key.
  bool shake_hands(const PrivateKey* key, int version = TLS1_3_VERSION) {
    context_.reset(SSL_CTX_new(TLS_method()));
    if (version == TLS1_3_VERSION) use_tls13_only(context_.get());
    SSL_CTX_set_max_proto_version(context_.get(), version);
    if (key != nullptr) {
      SSL_CTX_use_certificate(context_.get(), make_certificate(*key).get());
      SSL_CTX_use_PrivateKey(context_.get(), key->impl().key.get());
    }
    session_.reset(SSL_new(context_.get()));
    SSL_set_fd(session_.get(), socket_);
    return SSL_connect(session_.get()) == 1;
  }

  bool send(std::span<const std::byte> bytes) {
    ERR_clear_error();
    return SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
  }
  bool send(const std::string& bytes) { return send(std::as_bytes(std::span(bytes))); }

  // The next frame of greetings; none: the other side closed first.
  std::optional<std::pair<FrameType, std::vector<std::byte>>> read_greeting() { return read_frame({}); }
  std::optional<std::pair<FrameType, std::vector<std::byte>>> read_frame(FrameRules rules) {
    std::vector<std::byte> header(kFrameHeaderBytes);
    if (!read_all(header)) return std::nullopt;
    const auto checked = decode_frame_header(std::span(header).first<kFrameHeaderBytes>(), rules);
    if (checked.fault != FrameFault::none) return std::nullopt;
    std::vector<std::byte> payload(checked.header.length);
    if (!read_all(payload)) return std::nullopt;
    return std::pair(checked.header.type, std::move(payload));
  }
  std::optional<Refuse> read_refusal() {
    const auto frame = read_greeting();
    return frame && frame->first == FrameType::refuse ? decode_refuse(frame->second) : std::nullopt;
  }
  // Reads frames until one acknowledges this moment.
  std::optional<Delivery> read_ack(const FrameRules& rules, Moment moment) {
    while (const auto frame = read_frame(rules)) {
      if (frame->first != FrameType::ack) continue;
      if (const auto ack = decode_ack(frame->second); ack && ack->moment == moment) return ack->delivery;
    }
    return std::nullopt;
  }
  bool is_closed_by_peer() { return !read_frame({.version = kWireVersion, .message_limit_bytes = 1 << 20}); }

  // As a member: TLS and HELLO; true where WELCOME came.
  bool join(const PrivateKey& key, const Greeting& hello) {
    if (!shake_hands(&key) || !send(encode_greeting(FrameType::hello, hello))) return false;
    const auto answer = read_greeting();
    return answer && answer->first == FrameType::welcome;
  }
  bool send_letter(const LetterHead& head, std::size_t bytes, std::uint16_t version = kWireVersion) {
    auto frame = encode_letter_head(version, head, bytes);
    frame.resize(frame.size() + bytes, std::byte{5});
    return send(frame);
  }

 private:
  bool read_all(std::span<std::byte> into) {
    while (!into.empty()) {
      ERR_clear_error();
      const int count = SSL_read(session_.get(), into.data(), static_cast<int>(into.size()));
      if (count <= 0) return false;
      into = into.subspan(static_cast<std::size_t>(count));
    }
    return true;
  }

  int socket_;
  bool connected_ = false;
  OwnedContext context_;
  OwnedSession session_;
};

// The HELLO that a member with these options would send.
inline Greeting hello_of(const WireOptions& options) {
  Greeting hello;
  hello.number = options.self;
  hello.federation = options.federation;
  hello.revision = options.revision;
  hello.run = options.run;
  hello.boot[0] = std::byte{1};
  hello.round = options.round;
  hello.software = "raw";
  return hello;
}

}  // namespace dfrost::test

#include "network/tls/channel.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/sslerr.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "network/tls/tls_context.h"

namespace dfrost {
namespace {

constexpr std::size_t kRecordBytes = 16 << 10;
// What one channel may read or write before others have their turn.
constexpr std::size_t kTurnBytes = 1 << 20;

void set_option(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof value);  // what a system lacks is done without
}

}  // namespace

Channel::Channel(asio::io_context& io, ChannelEvents& events, std::uint64_t message_limit_bytes)
    : io_(io),
      socket_(io),
      events_(events),
      reader_({.version = 0, .message_limit_bytes = message_limit_bytes}) {}

void Channel::start(OwnedSession session, double user_timeout_seconds) {
  session_ = std::move(session);
  std::error_code ignored;
  socket_.non_blocking(true, ignored);
  const int socket = socket_.native_handle();
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT,
             static_cast<int>(std::clamp(1e3 * user_timeout_seconds, 1.0, 1e8)));
  shake_hands();
}

void Channel::shake_hands() {
  if (closed_) return;
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  if (result != 1) return wait_or_end(result, &Channel::shake_hands, shaking_);
  peer_ = fingerprint_of_peer(session_.get());
  secure_ = true;
  events_.on_secure(*this);
  read_some();
  schedule_writing();
}

void Channel::read_some() {
  if (closed_ || !secure_ || reading_ || paused_) return;
  if (finishing_) return discard_some();
  for (std::size_t turn = 0; turn < kTurnBytes;) {
    const auto into = reader_.wanted();
    std::size_t count = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(session_.get(), into.data(), into.size(), &count);
    if (result != 1) return wait_or_end(result, &Channel::read_some, reading_);
    turn += count;
    events_.on_read(*this, count);
    if (!handle(reader_.advance(count)) || closed_ || paused_) return;
    if (finishing_) return discard_some();
  }
  reading_ = true;
  asio::post(io_, [self = shared_from_this()] {
    self->reading_ = false;
    self->read_some();
  });
}

// Until the other side has closed too: a socket closed with bytes unread takes back those just written.
void Channel::discard_some() {
  std::array<std::byte, kRecordBytes> into;
  for (std::size_t turn = 0; turn < kTurnBytes;) {
    std::size_t count = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(session_.get(), into.data(), into.size(), &count);
    if (result != 1) return wait_or_end(result, &Channel::read_some, reading_);
    turn += count;
  }
  close();  // it would not stop
}

// False where nothing more can be read.
bool Channel::handle(FrameReader::Event event) {
  switch (event) {
    case FrameReader::Event::more:
    case FrameReader::Event::skipped: return true;
    case FrameReader::Event::frame: events_.on_frame(*this, reader_.type(), reader_.payload()); return true;
    case FrameReader::Event::letter_head:
      if (events_.on_letter_head(*this, reader_.letter())) {
        reader_.take_letter();
      } else {
        reader_.skip_letter();
      }
      return true;
    case FrameReader::Event::letter:
      events_.on_letter(*this, reader_.letter(), reader_.message());
      return true;
    case FrameReader::Event::fault: break;
  }
  events_.on_fault(*this, reader_.fault(), reader_.letter());
  if (!finishing_) close(Ending::malformed, std::string(to_string(reader_.fault())));
  return false;
}

void Channel::resume() {
  paused_ = false;
  read_some();
}

void Channel::put(std::vector<std::byte> frame, SharedBytes message) {
  queue_.push_back({std::move(frame), std::move(message)});
  schedule_writing();
}

void Channel::schedule_writing() {
  if (writing_ || closed_ || !secure_) return;
  if (rest().empty()) wrote_at_ = Clock::now();
  writing_ = true;
  asio::post(io_, [self = shared_from_this()] {
    self->writing_ = false;
    self->write_some();
  });
}

void Channel::write_some() {
  if (closed_ || writing_ || write_closed_) return;
  writing_ = true;  // what is put meanwhile is written in this turn
  for (std::size_t turn = 0; turn < kTurnBytes;) {
    if (rest().empty() && !stage_next()) {
      writing_ = false;
      if (finishing_) stop_writing();
      return;
    }
    std::size_t count = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(session_.get(), rest().data(), rest().size(), &count);
    if (result != 1) return wait_or_end(result, &Channel::write_some, writing_);
    turn += count;
    wrote(count);
  }
  writing_ = false;
  schedule_writing();
}

// Puts what is queued together until it fills a record or a large message follows.
bool Channel::stage_next() {
  if (queue_.empty() && !finishing_) events_.on_idle(*this);
  staged_.clear();
  staged_done_ = message_done_ = 0;
  while (!queue_.empty() && staged_.size() < kRecordBytes && message_ == nullptr) {
    Piece piece = std::move(queue_.front());
    queue_.pop_front();
    staged_.insert(staged_.end(), piece.head.begin(), piece.head.end());
    if (piece.message == nullptr) continue;
    if (staged_.size() + piece.message->size() > kRecordBytes) {
      message_ = std::move(piece.message);
    } else {
      staged_.insert(staged_.end(), piece.message->begin(), piece.message->end());
    }
  }
  return !staged_.empty();
}

std::span<const std::byte> Channel::rest() const {
  if (staged_done_ < staged_.size()) return std::span(staged_).subspan(staged_done_);
  return message_ == nullptr ? std::span<const std::byte>() : std::span(*message_).subspan(message_done_);
}

void Channel::wrote(std::size_t count) {
  wrote_at_ = Clock::now();
  if (staged_done_ < staged_.size()) {
    staged_done_ += count;
  } else if ((message_done_ += count) == message_->size()) {
    message_ = nullptr;
  }
}

bool Channel::is_stuck(double seconds) const {
  return !rest().empty() && Clock::now() - wrote_at_ > std::chrono::duration<double>(seconds);
}

void Channel::stop_writing() {
  write_closed_ = true;
  SSL_shutdown(session_.get());
  std::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

void Channel::finish() {
  if (closed_ || finishing_) return;
  if (!secure_) return close();
  finishing_ = true;
  paused_ = false;
  schedule_writing();
  // A turn may be in the middle of a letter: what is left of it is thrown away from now on.
  asio::post(io_, [self = shared_from_this()] { self->read_some(); });
}

void Channel::close(Ending ending, const std::string& text) {
  if (closed_) return;
  closed_ = true;
  std::error_code ignored;
  socket_.close(ignored);
  asio::post(io_, [self = shared_from_this(), ending, text] { self->events_.on_end(*self, ending, text); });
}

void Channel::wait_or_end(int result, void (Channel::*again)(), bool& waiting) {
  const int error = SSL_get_error(session_.get(), result);
  if (error == SSL_ERROR_WANT_READ) return wait_for(asio::ip::tcp::socket::wait_read, again, waiting);
  if (error == SSL_ERROR_WANT_WRITE) return wait_for(asio::ip::tcp::socket::wait_write, again, waiting);
  fail(error);
}

void Channel::wait_for(asio::ip::tcp::socket::wait_type what, void (Channel::*again)(), bool& waiting) {
  waiting = true;
  socket_.async_wait(what, [self = shared_from_this(), again, &waiting](const std::error_code& error) {
    waiting = false;
    if (!error) (self.get()->*again)();
  });
}

void Channel::fail(int error) {
  if (finishing_) return close();
  const auto code = ERR_peek_error();
  const int reason = ERR_GET_REASON(code);
  const int said = errno;
  std::string text = code != 0                                 ? openssl_reason()
                     : error == SSL_ERROR_SYSCALL && said != 0 ? std::strerror(said)
                                                               : "the other side hung up";
  if (!secure_) {
    if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) return close(Ending::no_certificate, text);
    if (SSL_get_verify_result(session_.get()) == X509_V_ERR_CERT_REJECTED)
      return close(Ending::unknown_key, text);
    const bool hung_up = code == 0 || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING;
    return close(hung_up ? Ending::cut : Ending::not_tls, text);
  }
  // It has judged our certificate only after we took the handshake for done.
  const bool alert = reason > SSL_AD_REASON_OFFSET;
  if (alert && version_ == 0) return close(Ending::not_tls, text);
  const bool whole = reader_.is_between_frames() && (error == SSL_ERROR_ZERO_RETURN);
  close(whole ? Ending::closed : Ending::cut, text);
}

}  // namespace dfrost

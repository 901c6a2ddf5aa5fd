// One TLS connection: handshake, frames in, frames out, never blocking. OpenSSL reads and writes the socket
// itself, Asio only says when it may. Everything happens on the network thread; whoever made the channel is
// told through ChannelEvents, and decides what to do about it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "network/tls/asio.h"
#include "network/tls/frame_reader.h"
#include "network/tls/openssl.h"

namespace dfrost {

class Channel;

// Why a channel ended.
enum class Ending {
  asked,           // by us
  not_tls,         // the handshake failed
  no_certificate,  // so it did because the other side showed none
  unknown_key,     // so it did because the other side's key is not the awaited one
  closed,          // by the other side, between frames
  cut,             // in the middle of one, or by the network
  malformed,       // the other side sent what is no frame
};

class ChannelEvents {
 public:
  virtual ~ChannelEvents() = default;
  virtual void on_secure(Channel& channel) = 0;  // the handshake is done; peer() is known
  virtual void on_frame(Channel& channel, FrameType type, std::span<const std::byte> payload) = 0;
  // True: it is to be read, and on_letter follows; false: it is skipped.
  virtual bool on_letter_head(Channel& channel, const LetterHead& head) = 0;
  virtual void on_letter(Channel& channel, const LetterHead& head, SharedBytes message) = 0;
  // Just before the end as malformed; `letter` is the one that was too large, if that is what it was.
  virtual void on_fault(Channel& channel, FrameFault fault, const LetterHead& letter) = 0;
  virtual void on_read(Channel& channel, std::size_t bytes) = 0;
  virtual void on_idle(Channel& channel) = 0;  // all is written: time to put the next
  // Once, later than whatever ended it.
  virtual void on_end(Channel& channel, Ending ending, const std::string& text) = 0;
};

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  using Clock = std::chrono::steady_clock;

  Channel(asio::io_context& io, ChannelEvents& events, std::uint64_t message_limit_bytes);

  asio::ip::tcp::socket& socket() { return socket_; }
  // The socket is open; user_timeout: how long TCP goes on sending what nobody confirms.
  void start(OwnedSession session, double user_timeout_seconds);
  const KeyFingerprint& peer() const { return peer_; }
  void agree_on(std::uint16_t version) {
    version_ = version;
    reader_.agree_on(version);
  }
  std::uint16_t version() const { return version_; }

  void put(std::vector<std::byte> frame, SharedBytes message = nullptr);
  std::size_t queued() const { return queue_.size(); }
  // Tells it that on_idle has something again.
  void wake() { schedule_writing(); }
  // Bytes wait to be written, and none was for so long.
  bool is_stuck(double seconds) const;
  void pause() { paused_ = true; }
  void resume();
  bool is_paused() const { return paused_; }

  void finish();  // writes what is queued, then ends; what still comes is not looked at
  void close(Ending ending = Ending::asked, const std::string& text = {});
  bool is_open() const { return !closed_ && !finishing_; }

  // What the owner notes of it.
  struct Notes {
    bool dialled = false;
    bool greeting = false;  // TLS is done, and HELLO sent or awaited
    std::optional<ClientId> member;
    std::string address;
    Clock::time_point deadline = Clock::time_point::max();  // by when it is to be a link, or to have ended
    std::string refusal;                                    // what it was refused for, if it was
  };
  Notes notes;

 private:
  struct Piece {
    std::vector<std::byte> head;
    SharedBytes message;
  };

  void shake_hands();
  void read_some();
  void discard_some();
  bool handle(FrameReader::Event event);
  void schedule_writing();
  void write_some();
  bool stage_next();
  std::span<const std::byte> rest() const;
  void wrote(std::size_t count);
  void stop_writing();
  // After an operation of OpenSSL that did not succeed: waits, or ends the channel.
  void wait_or_end(int result, void (Channel::*again)(), bool& waiting);
  void wait_for(asio::ip::tcp::socket::wait_type what, void (Channel::*again)(), bool& waiting);
  void fail(int error);

  asio::io_context& io_;
  asio::ip::tcp::socket socket_;
  OwnedSession session_;
  ChannelEvents& events_;
  FrameReader reader_;
  KeyFingerprint peer_;
  std::uint16_t version_ = 0;
  bool secure_ = false, finishing_ = false, closed_ = false, paused_ = false, write_closed_ = false;
  bool shaking_ = false, reading_ = false, writing_ = false;  // a wait or a turn is under way
  std::deque<Piece> queue_;
  std::vector<std::byte> staged_;  // small things, together in one record
  SharedBytes message_;            // after what is staged, from its own memory
  std::size_t staged_done_ = 0, message_done_ = 0;
  Clock::time_point wrote_at_ = Clock::now();
};

}  // namespace dfrost

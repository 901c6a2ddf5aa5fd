// What lies on a link, byte by byte as docs/reference/wire.md has it: frames of a fixed header and a payload.
// Functions over bytes; what is wrong is a value, never an exception, and nothing is allocated for a length
// that its type does not allow. Numbers are little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "network/exchange.h"
#include "network/letter.h"
#include "network/tls/wire.h"

namespace dfrost {

enum class FrameType : std::uint16_t { hello = 1, welcome, refuse, pulse, letter, ack, bye };

inline constexpr std::size_t kFrameHeaderBytes = 16;
inline constexpr std::size_t kLetterHeadBytes = 16;      // of a LETTER's payload, before the message
inline constexpr std::size_t kMostGreetingBytes = 1024;  // HELLO, WELCOME, REFUSE
inline constexpr std::size_t kMostControlBytes = 64;     // PULSE, ACK, BYE

// Why bytes are no frame that may stand here; a link on which one appears is closed.
enum class FrameFault { none, magic, version, type, length, oversized };
std::string_view to_string(FrameFault fault);

struct FrameHeader {
  std::uint16_t version = 0;
  FrameType type = FrameType::hello;
  std::uint64_t length = 0;  // of the payload
};

// The rules of a link: before anything is agreed only greetings may come, and after it none.
struct FrameRules {
  std::uint16_t version = 0;  // agreed upon; 0: not yet
  std::uint64_t message_limit_bytes = 0;
};

// The fault of a LETTER that is too long is `oversized`, and its header is good: what it would have been can
// be read off its next bytes.
struct CheckedHeader {
  FrameHeader header;
  FrameFault fault = FrameFault::none;
};
CheckedHeader decode_frame_header(std::span<const std::byte, kFrameHeaderBytes> bytes,
                                  const FrameRules& rules);

// Header and payload. Greetings have version 1 in their header, whatever is agreed later.
std::vector<std::byte> encode_frame(FrameType type, std::uint16_t version,
                                    std::span<const std::byte> payload);

struct LetterHead {
  ClientId sender = 0;
  Moment moment;

  friend bool operator==(const LetterHead&, const LetterHead&) = default;
};
LetterHead decode_letter_head(std::span<const std::byte, kLetterHeadBytes> bytes);
// Frame header and letter head: what stands before the message.
std::vector<std::byte> encode_letter_head(std::uint16_t version, const LetterHead& head,
                                          std::size_t message_bytes);

struct PulseFrame {
  Pulse pulse;
  std::uint64_t awaited_round = 0;  // the mailbox's: letters of it and of a few later ones are taken
  // Since version 2, in microseconds of the clocks of their writers.
  std::uint64_t sent_at = 0;
  std::uint64_t echo = 0;              // the sent_at of the last pulse that came; 0: of none
  std::uint64_t echo_held_micros = 0;  // how long ago that came

  friend bool operator==(const PulseFrame&, const PulseFrame&) = default;
};
std::vector<std::byte> encode_pulse(std::uint16_t version, const PulseFrame& pulse);
std::optional<PulseFrame> decode_pulse(std::uint16_t version, std::span<const std::byte> payload);

// What the receiver did with a letter. Only an early one is to be sent again, once its round is awaited.
struct AckFrame {
  Moment moment;
  Delivery delivery = Delivery::kept;

  friend bool operator==(const AckFrame&, const AckFrame&) = default;
};
std::vector<std::byte> encode_ack(std::uint16_t version, const AckFrame& ack);
std::optional<AckFrame> decode_ack(std::span<const std::byte> payload);

enum class Farewell : std::uint32_t { done = 1, leaving = 2 };
std::vector<std::byte> encode_bye(std::uint16_t version, Farewell farewell);
std::optional<Farewell> decode_bye(std::span<const std::byte> payload);

}  // namespace dfrost

#include "network/tls/frame.h"

#include <algorithm>

#include "network/tls/byte_writer.h"

namespace dfrost {
namespace {

constexpr std::array<char, 4> kFrameMagic = {'D', 'F', 'R', 'W'};

constexpr std::size_t kPulseBytesOfVersion1 = 32;
constexpr std::size_t kPulseBytes = 64;

// How long a payload may be.
struct Lengths {
  std::uint64_t least, most;
};

bool is_greeting(FrameType type) {
  return type == FrameType::hello || type == FrameType::welcome || type == FrameType::refuse;
}

Lengths lengths_of(FrameType type, const FrameRules& rules) {
  switch (type) {
    case FrameType::hello:
    case FrameType::welcome:
    case FrameType::refuse: return {1, kMostGreetingBytes};
    case FrameType::pulse: {
      const auto length = rules.version == 1 ? kPulseBytesOfVersion1 : kPulseBytes;
      return {length, length};
    }
    case FrameType::letter: return {kLetterHeadBytes + 1, kLetterHeadBytes + rules.message_limit_bytes};
    case FrameType::ack: return {16, 16};
    case FrameType::bye: return {4, 4};
  }
  return {1, 0};  // none
}

FrameFault fault_of(const FrameHeader& header, const FrameRules& rules) {
  const bool greeting = is_greeting(header.type);
  if (header.type < FrameType::hello || header.type > FrameType::bye || greeting != (rules.version == 0))
    return FrameFault::type;
  if (header.version != (greeting ? kOldestWireVersion : rules.version)) return FrameFault::version;
  const auto [least, most] = lengths_of(header.type, rules);
  if (header.length < least) return FrameFault::length;
  if (header.length > most)
    return header.type == FrameType::letter ? FrameFault::oversized : FrameFault::length;
  return FrameFault::none;
}

}  // namespace

std::string_view to_string(FrameFault fault) {
  switch (fault) {
    case FrameFault::none: return "none";
    case FrameFault::magic: return "it does not begin as a frame of dfrost does";
    case FrameFault::version: return "it is of another wire version than was agreed";
    case FrameFault::type: return "it is of a type that may not stand there";
    case FrameFault::length: return "its length is not one that its type has";
    case FrameFault::oversized: return "it is a letter larger than any of this run";
  }
  return "unknown";
}

CheckedHeader decode_frame_header(std::span<const std::byte, kFrameHeaderBytes> bytes,
                                  const FrameRules& rules) {
  ByteTaker taker(bytes);
  std::array<char, 4> magic{};
  taker.bytes(std::as_writable_bytes(std::span(magic)));
  CheckedHeader checked;
  checked.header.version = taker.number<std::uint16_t>();
  checked.header.type = static_cast<FrameType>(taker.number<std::uint16_t>());
  checked.header.length = taker.number<std::uint64_t>();
  checked.fault = magic != kFrameMagic ? FrameFault::magic : fault_of(checked.header, rules);
  return checked;
}

std::vector<std::byte> encode_frame(FrameType type, std::uint16_t version,
                                    std::span<const std::byte> payload) {
  ByteWriter writer;
  writer.bytes(std::as_bytes(std::span(kFrameMagic)))
      .number(is_greeting(type) ? kOldestWireVersion : version)
      .number(static_cast<std::uint16_t>(type))
      .number(std::uint64_t{payload.size()})
      .bytes(payload);
  return writer.take();
}

LetterHead decode_letter_head(std::span<const std::byte, kLetterHeadBytes> bytes) {
  ByteTaker taker(bytes);
  LetterHead head;
  head.sender = taker.number<std::uint32_t>();
  head.moment.phase = taker.number<std::uint32_t>();
  head.moment.round = taker.number<std::uint64_t>();
  return head;
}

std::vector<std::byte> encode_letter_head(std::uint16_t version, const LetterHead& head,
                                          std::size_t message_bytes) {
  ByteWriter writer;
  writer.bytes(std::as_bytes(std::span(kFrameMagic)))
      .number(version)
      .number(static_cast<std::uint16_t>(FrameType::letter))
      .number(std::uint64_t{kLetterHeadBytes + message_bytes})
      .number(head.sender)
      .number(head.moment.phase)
      .number(head.moment.round);
  return writer.take();
}

std::vector<std::byte> encode_pulse(std::uint16_t version, const PulseFrame& frame) {
  ByteWriter writer;
  writer.number(frame.pulse.round)
      .number(frame.pulse.phase)
      .number(frame.pulse.stage)
      .number(frame.pulse.revision)
      .number(frame.awaited_round);
  if (version >= 2)
    writer.number(frame.pulse.progress)
        .number(frame.sent_at)
        .number(frame.echo)
        .number(frame.echo_held_micros);
  return encode_frame(FrameType::pulse, version, writer.take());
}

std::optional<PulseFrame> decode_pulse(std::uint16_t version, std::span<const std::byte> payload) {
  ByteTaker taker(payload);
  PulseFrame frame;
  frame.pulse.round = taker.number<std::uint64_t>();
  frame.pulse.phase = taker.number<std::uint32_t>();
  frame.pulse.stage = taker.number<std::uint32_t>();
  frame.pulse.revision = taker.number<std::uint64_t>();
  frame.awaited_round = taker.number<std::uint64_t>();
  if (version >= 2) {
    frame.pulse.progress = taker.number<std::uint64_t>();
    frame.sent_at = taker.number<std::uint64_t>();
    frame.echo = taker.number<std::uint64_t>();
    frame.echo_held_micros = taker.number<std::uint64_t>();
  }
  if (!taker.enough() || taker.left() > 0) return std::nullopt;
  return frame;
}

std::vector<std::byte> encode_ack(std::uint16_t version, const AckFrame& ack) {
  ByteWriter writer;
  writer.number(ack.moment.round).number(ack.moment.phase).number(static_cast<std::uint32_t>(ack.delivery));
  return encode_frame(FrameType::ack, version, writer.take());
}

std::optional<AckFrame> decode_ack(std::span<const std::byte> payload) {
  ByteTaker taker(payload);
  AckFrame ack;
  ack.moment.round = taker.number<std::uint64_t>();
  ack.moment.phase = taker.number<std::uint32_t>();
  const auto delivery = taker.number<std::uint32_t>();
  if (!taker.enough() || taker.left() > 0 || delivery > static_cast<std::uint32_t>(Delivery::too_large))
    return std::nullopt;
  ack.delivery = static_cast<Delivery>(delivery);
  return ack;
}

std::vector<std::byte> encode_bye(std::uint16_t version, Farewell farewell) {
  ByteWriter writer;
  writer.number(static_cast<std::uint32_t>(farewell));
  return encode_frame(FrameType::bye, version, writer.take());
}

std::optional<Farewell> decode_bye(std::span<const std::byte> payload) {
  ByteTaker taker(payload);
  const auto farewell = static_cast<Farewell>(taker.number<std::uint32_t>());
  const bool known = farewell == Farewell::done || farewell == Farewell::leaving;
  if (!taker.enough() || taker.left() > 0 || !known) return std::nullopt;
  return farewell;
}

}  // namespace dfrost

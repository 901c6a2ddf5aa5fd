// Any bytes on a link, in pieces of any size, give frames that keep the promises of FrameReader and of the
// decoders, or a fault; never an exception, and never more memory than the limit for a message.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "network/tls/frame_reader.h"

namespace {

using dfrost::FrameReader;
using dfrost::FrameType;

constexpr std::size_t kMessageLimit = 10'000;

void require(bool holds) {
  if (!holds) std::abort();
}

std::span<const std::byte> payload_of(const std::vector<std::byte>& frame) {
  return std::span(frame).subspan(dfrost::kFrameHeaderBytes);
}

// What was read is what would be written again.
void use_frame(const FrameReader& reader, std::uint16_t version) {
  const auto payload = reader.payload();
  if (version == 0) return require(payload.size() <= dfrost::kMostGreetingBytes);
  require(payload.size() <= dfrost::kMostControlBytes);
  const auto same = [&](const std::vector<std::byte>& frame) {
    require(std::ranges::equal(payload_of(frame), payload));
  };
  if (reader.type() == FrameType::pulse) {
    const auto pulse = dfrost::decode_pulse(version, payload);
    require(pulse.has_value());
    same(dfrost::encode_pulse(version, *pulse));
  } else if (reader.type() == FrameType::ack) {
    if (const auto ack = dfrost::decode_ack(payload)) same(dfrost::encode_ack(version, *ack));
  } else {
    require(reader.type() == FrameType::bye);
    if (const auto farewell = dfrost::decode_bye(payload)) same(dfrost::encode_bye(version, *farewell));
  }
}

}  // namespace

std::size_t fuzz_memory_bound(std::size_t) { return kMessageLimit + (64u << 10); }

// The first byte says what was agreed, how large the pieces are and whether letters are taken.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t choice = data[0];
  const auto version = static_cast<std::uint16_t>(choice % 3);
  const std::size_t piece = std::size_t{1} << (choice / 3 % 8 * 2);
  const bool takes = choice / 24 % 2 == 0;
  FrameReader reader({.version = version, .message_limit_bytes = kMessageLimit});
  auto rest = std::as_bytes(std::span(data, size)).subspan(1);
  while (!rest.empty()) {
    const auto into = reader.wanted();
    require(!into.empty());
    const std::size_t count = std::min({piece, into.size(), rest.size()});
    std::memcpy(into.data(), rest.data(), count);
    rest = rest.subspan(count);
    switch (reader.advance(count)) {
      case FrameReader::Event::frame: use_frame(reader, version); break;
      case FrameReader::Event::letter_head:
        require(version != 0 && reader.letter_bytes() > 0 && reader.letter_bytes() <= kMessageLimit);
        takes ? reader.take_letter() : reader.skip_letter();
        break;
      case FrameReader::Event::letter: require(reader.message()->size() <= kMessageLimit); break;
      case FrameReader::Event::fault: require(reader.fault() != dfrost::FrameFault::none); return 0;
      default: break;
    }
  }
  return 0;
}

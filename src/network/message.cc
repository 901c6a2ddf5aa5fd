#include "network/message.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/finite.h"
#include "base/quote.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

static_assert(std::endian::native == std::endian::little, "headers are copied as they lie in memory");

constexpr std::array<char, 4> kMagic = {'D', 'F', 'R', 'M'};

// The first bytes of every version, past and to come: what comes after them is for one version only.
struct Opening {
  std::array<char, 4> magic = kMagic;
  std::uint32_t version = kMessageVersion;
};

// As it lies in the message; ordered so that nothing needs padding.
struct Header {
  Opening opening;
  std::array<std::byte, 16> run = {};
  std::uint32_t sender = 0;
  std::uint32_t phase = 0;
  std::uint64_t round = 0;
  std::uint32_t kind = 0;
  std::uint32_t checksum = 0;
  std::uint64_t payload_bytes = 0;
};
static_assert(sizeof(Opening) == 8);
static_assert(sizeof(Header) == kMessageHeaderBytes);
static_assert(std::has_unique_object_representations_v<Header>);
static_assert(sizeof(RunId) == sizeof(Header::run));

// CRC-32 over the whole message, with zeros in place of the checksum itself.
std::uint32_t checksum_of(Header header, std::span<const std::byte> payload) {
  header.checksum = 0;
  uLong checksum = crc32_z(0, reinterpret_cast<const Bytef*>(&header), sizeof(header));
  checksum = crc32_z(checksum, reinterpret_cast<const Bytef*>(payload.data()), payload.size());
  return static_cast<std::uint32_t>(checksum);
}

template <typename... Arguments>
Refusal refuse(RefusalReason reason, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return {reason, fmt::format(text, std::forward<Arguments>(arguments)...)};
}

std::optional<Refusal> check_opening(const Opening& opening) {
  if (opening.magic != kMagic) {
    return refuse(RefusalReason::magic, "it does not begin as a message of dfrost does");
  }
  if (opening.version != kMessageVersion) {
    const bool is_older = opening.version < kMessageVersion;
    return refuse(RefusalReason::version,
                  "it is of version {}, expected {}: the sender runs {} dfrost; update the one {}",
                  opening.version, kMessageVersion, is_older ? "an older" : "a newer",
                  is_older ? "there" : "here");
  }
  return std::nullopt;
}

std::optional<Refusal> check_wholeness(const Header& header, std::span<const std::byte> payload) {
  if (header.payload_bytes != payload.size()) {
    return refuse(RefusalReason::truncated, "its payload is {} bytes long, expected {}", payload.size(),
                  header.payload_bytes);
  }
  if (header.checksum != checksum_of(header, payload)) {
    return refuse(RefusalReason::checksum, "its checksum is wrong: it was damaged on the way");
  }
  return std::nullopt;
}

std::optional<Refusal> check_envelope(const Header& header, const Envelope& expected) {
  const auto& [round, phase] = expected.moment;
  const auto kind = static_cast<std::uint32_t>(expected.kind);
  if (header.run != expected.run.bytes) {
    return refuse(RefusalReason::run,
                  "it is of run {}, expected {}: the peer takes part in another run, or its settings or seed "
                  "are not those of this one; start both from the same config",
                  to_string(RunId{header.run}), to_string(expected.run));
  }
  if (header.sender != expected.sender) {
    return refuse(RefusalReason::sender, "it is from client {}, expected {}", header.sender, expected.sender);
  }
  if (header.round != round) {
    return refuse(RefusalReason::round, "it is of round {}, expected {}", header.round, round);
  }
  if (header.phase != phase) {
    return refuse(RefusalReason::phase, "it is of phase {}, expected {}", header.phase, phase);
  }
  // Any number may stand there; only one that equals a known kind becomes one.
  if (header.kind != kind) {
    return refuse(RefusalReason::kind, "it is of kind {}, expected {} ({})", header.kind, kind,
                  to_string(expected.kind));
  }
  return std::nullopt;
}

bool fits(const Shape& shape, const Shape& pattern) {
  return std::equal(
      shape.begin(), shape.end(), pattern.begin(), pattern.end(),
      [](std::size_t size, std::size_t wanted) { return wanted == 0 ? size > 0 : size == wanted; });
}

std::optional<Refusal> check_tensors(const Safetensors& content, const ExpectedMessage& expected) {
  for (const auto& [name, shape] : expected.tensors) {
    const auto found = content.tensors.find(name);
    if (found == content.tensors.end()) {
      return refuse(RefusalReason::tensors, "tensor {} is missing", quote_name(name));
    }
    const TensorView& tensor = found->second;
    if (tensor.type != TensorType::f32) {
      return refuse(RefusalReason::tensors, "tensor {} holds {} values, expected F32", quote_name(name),
                    to_string(tensor.type));
    }
    if (!fits(tensor.shape, shape)) {
      return refuse(RefusalReason::shape, "tensor {} has shape {}, expected {}{}", quote_name(name),
                    to_string(tensor.shape), to_string(shape),
                    std::count(shape.begin(), shape.end(), 0u) > 0 ? " (0: any)" : "");
    }
  }
  if (content.tensors.size() > expected.tensors.size()) {
    return refuse(RefusalReason::tensors, "it holds {} tensors, expected {}", content.tensors.size(),
                  expected.tensors.size());
  }
  return std::nullopt;
}

std::variant<Message, Refusal> read_tensors(const Envelope& envelope, const Safetensors& content) {
  Message message{.envelope = envelope, .tensors = {}};
  for (const auto& [name, view] : content.tensors) {
    auto values = read_floats(view, name);
    if (!all_finite(values)) {
      const auto bad = std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
      return refuse(RefusalReason::not_finite, "value {} of tensor {} is {}", bad - values.begin(),
                    quote_name(name), *bad);
    }
    message.tensors.emplace(name, ReceivedTensor{view.shape, std::move(values)});
  }
  return message;
}

}  // namespace

std::string_view to_string(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::truncated: return "truncated";
    case RefusalReason::magic: return "magic";
    case RefusalReason::version: return "version";
    case RefusalReason::checksum: return "checksum";
    case RefusalReason::run: return "run";
    case RefusalReason::sender: return "sender";
    case RefusalReason::round: return "round";
    case RefusalReason::phase: return "phase";
    case RefusalReason::kind: return "kind";
    case RefusalReason::payload: return "payload";
    case RefusalReason::tensors: return "tensors";
    case RefusalReason::shape: return "shape";
    case RefusalReason::not_finite: return "not_finite";
  }
  return "unknown";
}

std::vector<std::byte> encode_message(const Envelope& envelope, std::span<const FloatTensor> tensors) {
  const auto payload = serialize_safetensors(tensors);
  Header header;
  header.run = envelope.run.bytes;
  header.sender = envelope.sender;
  header.phase = envelope.moment.phase;
  header.round = envelope.moment.round;
  header.kind = static_cast<std::uint32_t>(envelope.kind);
  header.payload_bytes = payload.size();
  header.checksum = checksum_of(header, payload);
  std::vector<std::byte> bytes(sizeof(header) + payload.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), payload.data(), payload.size());
  return bytes;
}

std::variant<Message, Refusal> decode_message(std::span<const std::byte> bytes,
                                              const ExpectedMessage& expected) {
  // In two steps: a whole message of another version may be shorter than a header of this one.
  Header header;
  if (bytes.size() >= sizeof(Opening)) {
    std::memcpy(&header.opening, bytes.data(), sizeof(Opening));
    if (auto refusal = check_opening(header.opening)) return std::move(*refusal);
  }
  if (bytes.size() < sizeof(header)) {
    return refuse(RefusalReason::truncated, "it is {} bytes long, too short for a header", bytes.size());
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  const auto payload = bytes.subspan(sizeof(header));
  if (auto refusal = check_wholeness(header, payload)) return std::move(*refusal);
  if (auto refusal = check_envelope(header, expected.envelope)) return std::move(*refusal);
  Safetensors content;
  try {
    content = parse_safetensors(payload, "payload");
  } catch (const Error& error) {
    return Refusal{RefusalReason::payload, error.what()};
  }
  if (auto refusal = check_tensors(content, expected)) return std::move(*refusal);
  return read_tensors(expected.envelope, content);  // which is what the header says
}

}  // namespace dfrost

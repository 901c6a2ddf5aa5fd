#include "network/message.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>

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

bool fits(const Shape& shape, const TensorPattern& pattern) {
  return std::equal(shape.begin(), shape.end(), pattern.shape.begin(), pattern.shape.end(),
                    [&](std::size_t size, std::size_t wanted) {
                      if (wanted != 0) return size == wanted;
                      return size > 0 && (pattern.most == 0 || size <= pattern.most);
                    });
}

// What an open size may be, for people.
std::string open_size_text(const TensorPattern& pattern) {
  if (std::ranges::count(pattern.shape, 0u) == 0) return "";
  return pattern.most == 0 ? " (0: any)" : fmt::format(" (0: at most {})", pattern.most);
}

std::optional<Refusal> check_tensors(const Safetensors& content, const ExpectedMessage& expected) {
  for (const auto& pattern : expected.tensors) {
    const std::string& name = pattern.name;
    const auto found = content.tensors.find(name);
    if (found == content.tensors.end()) {
      return refuse(RefusalReason::tensors, "tensor {} is missing", quote_name(name));
    }
    const TensorView& tensor = found->second;
    if (tensor.type != TensorType::f32) {
      return refuse(RefusalReason::tensors, "tensor {} holds {} values, expected F32", quote_name(name),
                    to_string(tensor.type));
    }
    if (!fits(tensor.shape, pattern)) {
      return refuse(RefusalReason::shape, "tensor {} has shape {}, expected {}{}", quote_name(name),
                    to_string(tensor.shape), to_string(pattern.shape), open_size_text(pattern));
    }
  }
  if (content.tensors.size() > expected.tensors.size()) {
    return refuse(RefusalReason::tensors, "it holds {} tensors, expected {}", content.tensors.size(),
                  expected.tensors.size());
  }
  return std::nullopt;
}

std::optional<Refusal> check_values(const TensorPattern& pattern, std::span<const float> values) {
  if (!all_finite(values)) {
    const auto bad = std::ranges::find_if_not(values, [](float x) { return std::isfinite(x); });
    return refuse(RefusalReason::not_finite, "value {} of tensor {} is {}", bad - values.begin(),
                  quote_name(pattern.name), *bad);
  }
  const auto bad = std::ranges::find_if(
      values, [&](float x) { return x < pattern.least_value || x > pattern.largest_value; });
  if (bad == values.end()) return std::nullopt;
  return refuse(RefusalReason::magnitude, "value {} of tensor {} is {}, expected {} to {}",
                bad - values.begin(), quote_name(pattern.name), *bad, pattern.least_value,
                pattern.largest_value);
}

// The tensors are those expected, and no others.
std::variant<Message, Refusal> read_tensors(const ExpectedMessage& expected, const Safetensors& content) {
  Message message{.envelope = expected.envelope, .tensors = {}};
  for (const auto& pattern : expected.tensors) {
    const TensorView& view = content.tensors.find(pattern.name)->second;
    auto values = read_floats(view, pattern.name);
    if (auto refusal = check_values(pattern, values)) return std::move(*refusal);
    message.tensors.emplace(pattern.name, ReceivedTensor{view.shape, std::move(values)});
  }
  return message;
}

}  // namespace

bool may_be_sent(std::span<const float> values) {
  return all_finite(values) &&
         std::ranges::none_of(values, [](float x) { return std::abs(x) > kLargestValue; });
}

std::optional<std::size_t> longest_message_bytes(std::span<const TensorPattern> tensors) {
  // What surrounds a tensor's name and sizes in the JSON header, escapes of the name and all.
  constexpr std::size_t kAround = 1024, kEscaped = 6;
  std::size_t bytes = kMessageHeaderBytes + kAround;
  for (const auto& pattern : tensors) {
    Shape shape = pattern.shape;
    std::ranges::replace(shape, std::size_t{0}, pattern.most);
    const auto values = element_count(shape);
    std::size_t size = 0;
    if (!values || *values == 0 || __builtin_mul_overflow(*values, sizeof(float), &size) ||
        __builtin_add_overflow(bytes, size + kAround + kEscaped * pattern.name.size(), &bytes))
      return std::nullopt;
  }
  return bytes;
}

std::string_view to_string(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::too_large: return "too_large";
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
    case RefusalReason::magnitude: return "magnitude";
  }
  return "unknown";
}

std::vector<std::byte> encode_message(const Envelope& envelope, std::span<const FloatTensor> tensors) {
  std::vector<std::byte> bytes;
  encode_message(envelope, tensors, bytes);
  return bytes;
}

void encode_message(const Envelope& envelope, std::span<const FloatTensor> tensors,
                    std::vector<std::byte>& bytes) {
  Header header;
  bytes.resize(sizeof(header));
  append_safetensors(tensors, {}, bytes);
  const auto payload = std::span(bytes).subspan(sizeof(header));
  header.run = envelope.run.bytes;
  header.sender = envelope.sender;
  header.phase = envelope.moment.phase;
  header.round = envelope.moment.round;
  header.kind = static_cast<std::uint32_t>(envelope.kind);
  header.payload_bytes = payload.size();
  header.checksum = checksum_of(header, payload);
  std::memcpy(bytes.data(), &header, sizeof(header));
}

std::variant<Message, Refusal> decode_message(std::span<const std::byte> bytes,
                                              const ExpectedMessage& expected) {
  // In two steps: a whole message of another version may be shorter than a header of this one.
  Header header;
  if (bytes.size() >= sizeof(Opening)) {
    std::memcpy(&header.opening, bytes.data(), sizeof(Opening));
    if (auto refusal = check_opening(header.opening)) return std::move(*refusal);
  }
  if (const auto longest = longest_message_bytes(expected.tensors); longest && bytes.size() > *longest) {
    return refuse(RefusalReason::too_large, "it is {} bytes long, expected at most {}", bytes.size(),
                  *longest);
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
  return read_tensors(expected, content);  // the envelope is what the header says
}

}  // namespace dfrost

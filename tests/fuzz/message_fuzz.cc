// Any bytes give a message that keeps every promise of decode_message, or a reason why not; never an
// exception.

#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "network/message.h"

namespace {

constexpr std::size_t kChecksumAt = 44;
constexpr std::size_t kPayloadBytesAt = 48;

// What the saved inputs are addressed by: run 000102 … 0f, client 7, round 12, phase 1.
dfrost::Envelope expected_envelope() {
  dfrost::Envelope envelope{.sender = 7, .moment = {12, 1}};
  for (std::size_t i = 0; i < envelope.run.bytes.size(); ++i)
    envelope.run.bytes[i] = static_cast<std::byte>(i);
  return envelope;
}

void decode(std::span<const std::uint8_t> bytes) {
  const dfrost::ExpectedMessage expected{.envelope = expected_envelope(),
                                         .tensors = {{"head.bias", {2}}, {"prompt_embeddings", {0, 3}}}};
  const auto result = dfrost::decode_message(std::as_bytes(bytes), expected);
  if (const auto* refusal = std::get_if<dfrost::Refusal>(&result)) {
    if (refusal->text.empty() || refusal->text.size() > 1000) std::abort();
    return;
  }
  const auto& message = std::get<dfrost::Message>(result);
  if (message.envelope != expected.envelope || message.tensors.size() != 2) std::abort();
  const auto& prompts = message.tensors.at("prompt_embeddings");
  if (prompts.shape.size() != 2 || prompts.shape[0] == 0 || prompts.shape[1] != 3) std::abort();
  if (prompts.values.size() != 3 * prompts.shape[0]) std::abort();
  for (const auto& [name, tensor] : message.tensors) {
    for (const float value : tensor.values) {
      if (!std::isfinite(value)) std::abort();
    }
  }
}

// Makes length and checksum right: otherwise nearly every change stops there, and what lies behind is never
// reached.
std::vector<std::uint8_t> with_right_header(std::span<const std::uint8_t> bytes) {
  std::vector<std::uint8_t> fixed(bytes.begin(), bytes.end());
  const std::uint64_t payload_bytes = fixed.size() - dfrost::kMessageHeaderBytes;
  std::memcpy(fixed.data() + kPayloadBytesAt, &payload_bytes, 8);
  std::memset(fixed.data() + kChecksumAt, 0, 4);
  const auto checksum = static_cast<std::uint32_t>(crc32(0, fixed.data(), static_cast<uInt>(fixed.size())));
  std::memcpy(fixed.data() + kChecksumAt, &checksum, 4);
  return fixed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(data, size);
  decode(bytes);
  if (size >= dfrost::kMessageHeaderBytes) decode(with_right_header(bytes));
  return 0;
}

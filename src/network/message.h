// The one form in which tensors travel between clients: a fixed header of 56 bytes and a safetensors payload
// of named fp32 tensors, little-endian throughout; docs/reference/message-format.md has it byte by byte. The
// same state gives the same bytes. What arrives is believed only after every check below; a message that
// fails one is refused with the reason, as a value, because with real peers that is part of a normal day and
// is counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/safetensors.h"
#include "network/letter.h"

namespace dfrost {

inline constexpr std::size_t kMessageHeaderBytes = 56;
inline constexpr std::uint32_t kMessageVersion = 2;

std::vector<std::byte> encode_message(const Envelope& envelope, std::span<const FloatTensor> tensors);
// The same in place of what `bytes` holds, in its memory where there is enough.
void encode_message(const Envelope& envelope, std::span<const FloatTensor> tensors,
                    std::vector<std::byte>& bytes);

// No value of a message may be larger. What is trained starts below 1 and, with Adam, moves by at most its
// rate a step: nothing that was learnt comes near. The product of any four such values is one that fp32
// holds, so that no distance, logit or gradient of what was believed overflows in the pass after.
inline constexpr float kLargestValue = 1e9f;
// Whether a state may be sent: all are numbers, and none is larger.
bool may_be_sent(std::span<const float> values);

// A tensor that a message must hold. A size of 0 in the shape stands for any size above 0: clients may have
// different numbers of prompts.
struct TensorPattern {
  std::string name;
  Shape shape;
  std::size_t most = 0;  // the largest that an open size may be; 0: any
  float least_value = -kLargestValue;
  float largest_value = kLargestValue;
};

// No message that fits is longer, however it was written, short of spaces in its header; nothing where a size
// is open without a limit.
std::optional<std::size_t> longest_message_bytes(std::span<const TensorPattern> tensors);

struct ExpectedMessage {
  Envelope envelope;
  std::vector<TensorPattern> tensors;  // all of them, and no others
};

// Why a message is refused: the first thing that is wrong with it. Checked in the order of magic, version,
// length, checksum, what stands on the envelope, and what is inside; what is too long is not looked at.
enum class RefusalReason {
  too_large,   // longer than any message that fits can be
  truncated,   // shorter or longer than it says
  magic,       // not a message of dfrost
  version,     // of another version
  checksum,    // damaged on the way
  run,         // of another run, or of other settings
  sender,      // from somebody else
  round,       // of another round
  phase,       // of another phase of the round
  kind,        // holds something else
  payload,     // not a sound safetensors payload
  tensors,     // a tensor is missing, unknown or not fp32
  shape,       // a tensor has another shape
  not_finite,  // a value is infinite or not a number
  magnitude,   // a value is beyond what anybody could have learnt
};
inline constexpr std::array kRefusalReasons = {
    RefusalReason::too_large, RefusalReason::truncated,  RefusalReason::magic,    RefusalReason::version,
    RefusalReason::checksum,  RefusalReason::run,        RefusalReason::sender,   RefusalReason::round,
    RefusalReason::phase,     RefusalReason::kind,       RefusalReason::payload,  RefusalReason::tensors,
    RefusalReason::shape,     RefusalReason::not_finite, RefusalReason::magnitude};
std::string_view to_string(RefusalReason reason);

struct Refusal {
  RefusalReason reason = RefusalReason::truncated;
  std::string text;  // for a log: "it is of round 3, expected 4"
};

struct ReceivedTensor {
  Shape shape;
  std::vector<float> values;
};

struct Message {
  Envelope envelope;
  std::map<std::string, ReceivedTensor, std::less<>> tensors;

  ClientId sender() const { return envelope.sender; }
};

// Never throws because of what the bytes are. Memory used is a small multiple of their number.
std::variant<Message, Refusal> decode_message(std::span<const std::byte> bytes,
                                              const ExpectedMessage& expected);

}  // namespace dfrost

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

// A tensor that a message must hold. A size of 0 in the shape stands for any size above 0: clients may have
// different numbers of prompts.
struct TensorPattern {
  std::string name;
  Shape shape;
};

struct ExpectedMessage {
  Envelope envelope;
  std::vector<TensorPattern> tensors;  // all of them, and no others
};

// Why a message is refused: the first thing that is wrong with it. Checked in the order of magic, version,
// length, checksum, what stands on the envelope, and what is inside.
enum class RefusalReason {
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
};
inline constexpr std::array kRefusalReasons = {
    RefusalReason::truncated, RefusalReason::magic,   RefusalReason::version, RefusalReason::checksum,
    RefusalReason::run,       RefusalReason::sender,  RefusalReason::round,   RefusalReason::phase,
    RefusalReason::kind,      RefusalReason::payload, RefusalReason::tensors, RefusalReason::shape,
    RefusalReason::not_finite};
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

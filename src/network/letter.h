// What stands on the outside of a letter, as every message between clients has it in its header: of which run
// it is, from whom, to which moment of the run it belongs, and what the tensors inside are.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "network/graph.h"

namespace dfrost {

// Where in a run a letter belongs. Earlier moments are smaller: by round, then by phase.
struct Moment {
  std::uint64_t round = 0;
  std::uint32_t phase = 0;  // of a round in which clients exchange more than once, counted from 0

  // NOLINTNEXTLINE(modernize-use-nullptr): takes the comparison's own 0 for a pointer
  friend auto operator<=>(const Moment&, const Moment&) = default;
};

// The same at all peers that share settings and seed, and at no others.
struct RunId {
  std::array<std::byte, 16> bytes = {};

  friend bool operator==(const RunId&, const RunId&) = default;
};
std::string to_string(const RunId& run);  // 32 hexadecimal digits

// What the tensors of a letter are; the numbers travel.
enum class LetterKind : std::uint32_t {
  state = 1,    // the sender's own, as it is at this moment
  moments = 2,  // of the inputs of heads, as far as they are mixed
  tangent = 3,  // of the receiver's head, at the sender's pictures
};
std::string_view to_string(
    LetterKind kind);  // "state", "moments", "tangent"; "unknown" for a number that is none of them

struct Envelope {
  RunId run = {};
  ClientId sender = 0;
  Moment moment = {};
  LetterKind kind = LetterKind::state;

  friend bool operator==(const Envelope&, const Envelope&) = default;
};

}  // namespace dfrost

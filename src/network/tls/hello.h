// How two sites agree to talk: the one that dialled says HELLO, the other WELCOME or REFUSE. Both know by
// then, through TLS, whose key the other has; this says whether they mean the same federation, revision and
// run, and which process of that site it is. Pure functions: what to answer follows from the two greetings.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "network/tls/frame.h"
#include "network/tls/wire.h"

namespace dfrost {

// Drawn anew by every process: a second one with the same identity has another.
using BootId = std::array<std::byte, 16>;

// Of HELLO and of WELCOME, which names one version: the one that is spoken from then on.
struct Greeting {
  std::uint16_t oldest_version = kOldestWireVersion;
  std::uint16_t newest_version = kWireVersion;
  bool probe = false;  // only asks whether it would be welcome
  ClientId number = 0;
  FederationId federation;
  std::uint64_t revision = 0;
  RunId run;
  BootId boot = {};
  std::uint64_t round = 0;  // letters of it and of later ones are wanted again
  std::string software;

  friend bool operator==(const Greeting&, const Greeting&) = default;
};
inline constexpr std::size_t kMostSoftwareBytes = 64;

std::vector<std::byte> encode_greeting(FrameType type, const Greeting& greeting);
// Bytes behind the last field are of a later version and not looked at. None: these are no greeting.
std::optional<Greeting> decode_greeting(std::span<const std::byte> payload);

enum class RefuseCode : std::uint32_t {
  malformed = 1,   // what came was no HELLO
  version,         // no wire version in common
  federation,      // another federation
  number,          // not the number that this key has
  run,             // other settings or another seed
  older_revision,  // the dialler's federation file is older than here
  newer_revision,  // it is newer
  duplicate,       // another process with this identity is linked
  tie,             // both dialled at once, and the other link is kept
  barred,          // it broke the rules of the wire a moment ago
};
std::string_view to_string(RefuseCode code);  // as in the counts: "older_revision"

struct Refuse {
  RefuseCode code = RefuseCode::malformed;
  std::uint64_t revision = 0;  // the refusing site's
  std::string text;

  friend bool operator==(const Refuse&, const Refuse&) = default;
};
inline constexpr std::size_t kMostRefusalBytes = 512;

std::vector<std::byte> encode_refuse(const Refuse& refuse);
std::optional<Refuse> decode_refuse(std::span<const std::byte> payload);

// What the site that was dialled finds wrong with the greeting of one whose key is that of `member`; none:
// nothing, as far as the greetings go.
std::optional<RefuseCode> judge_greeting(const Greeting& theirs, ClientId member, const Greeting& ours);
// The newest that both speak; only of greetings that were not refused.
std::uint16_t common_version(const Greeting& theirs, const Greeting& ours);

// For the site that was refused, in words and with what to do.
struct Advice {
  std::string trouble;
  std::string hint;
};
Advice advice_on(const Refuse& refuse, std::uint64_t own_revision);
// Whether it may pass by itself within moments.
bool passes_soon(RefuseCode code);

}  // namespace dfrost

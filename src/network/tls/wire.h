// What a site tells the network code and what it learns from it: the members of its federation, limits on
// what strangers and members may do, heartbeats, and what is known of everybody else. Plain values.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/letter.h"
#include "network/mailbox.h"
#include "network/tls/identity.h"

namespace dfrost {

// The two newest wire versions talk to each other; docs/reference/wire.md says what each has.
inline constexpr std::uint16_t kOldestWireVersion = 1;
inline constexpr std::uint16_t kWireVersion = 2;

// Numbers of members stay below: tables are as long as the highest.
inline constexpr ClientId kMostMembers = 1u << 16;

struct WireMember {
  ClientId number = 0;
  std::string name;
  std::string address;  // "host:port", "[::1]:7443"; empty: it dials us
  KeyFingerprint key;
};

// Hash of a federation's first revision: the same for all later ones.
struct FederationId {
  std::array<std::byte, 32> bytes = {};

  friend bool operator==(const FederationId&, const FederationId&) = default;
};

// What others may take of this process before they are refused.
struct WireLimits {
  // Connections that are not yet known to be a member's: all of them, from one address, and for how long.
  std::size_t handshakes = 64;
  std::size_t handshakes_per_address = 8;
  double handshake_seconds = 10;
  // Of one member, over any second; more is left unread for a while, and so slows its sender down.
  double bytes_per_second = 512.0 * (1 << 20);
  double frames_per_second = 5000;
  // Letters that a member did not acknowledge are kept for it up to this; those of the last rounds always.
  std::size_t kept_bytes = std::size_t{64} << 20;
  // Between attempts to reach a member: from the first to the longest, a little random.
  double retry_seconds = 0.1;
  double longest_retry_seconds = 10;
  // After a refusal that will not pass by itself, such as of another revision.
  double refused_retry_seconds = 30;
  // A member that broke the rules of the wire is not let in again for so long.
  double barred_seconds = 30;
  // The member with the higher number leaves dialling to the other for so long, if both could.
  double yield_seconds = 0.2;
};

struct WireOptions {
  ClientId self = 0;
  std::string listen;               // "0.0.0.0:7443", ":0" for any port; empty: it only dials
  std::vector<WireMember> members;  // each number once, this site's among them
  FederationId federation;
  std::uint64_t revision = 1;
  RunId run;
  // The round this process starts in: others send again what they have of it and of later ones.
  std::uint64_t round = 1;
  std::string software;  // version, for people
  MailboxOptions mailbox;
  double heartbeat_seconds = 5;
  int missed_heartbeats = 3;  // so many, and a member is gone
  WireLimits limits;
  // The newest wire version to speak: below kWireVersion while others are being updated, and in tests.
  std::uint16_t newest_version = kWireVersion;

  double silence_seconds() const { return heartbeat_seconds * missed_heartbeats; }
  // Throws (invalid_argument) where members, limits or times make no sense.
  void validate() const;
};

// What a site says of itself with each heartbeat.
struct Pulse {
  std::uint64_t round = 0;
  std::uint32_t phase = 0;
  std::uint32_t stage = 0;  // 0 start, 1 train, 2 exchange, 3 merge, 4 evaluate, 5 done, 6 adopt
  std::uint64_t progress = 0;
  std::uint64_t revision = 0;

  friend bool operator==(const Pulse&, const Pulse&) = default;
};

// What this process knows of a member.
struct PeerView {
  ClientId number = 0;
  std::string name;
  bool linked = false;            // both have agreed to talk and the link is up
  bool alive = false;             // something came within missed_heartbeats intervals
  std::optional<Pulse> pulse;     // the last one
  double silent_seconds = 0;      // since anything came from it
  double round_trip_seconds = 0;  // 0: not known; wire version 1 does not measure it
  std::string software;
  std::uint64_t sent_bytes = 0, received_bytes = 0;  // of whole messages
  std::uint64_t sent_messages = 0, received_messages = 0;
  std::uint64_t reconnects = 0;  // links after the first
  std::string trouble;           // the last refusal or error in words, with what to do; empty: none
};

// What was refused of whoever connected, by reason; docs/reference/wire.md lists the reasons.
struct StrangerCounts {
  std::map<std::string, std::uint64_t, std::less<>> by_reason;

  std::uint64_t of(std::string_view reason) const {
    const auto found = by_reason.find(reason);
    return found == by_reason.end() ? 0 : found->second;
  }
  std::uint64_t total() const;
};

// Called from the network thread: be quick, never throw.
class WireObserver {
 public:
  virtual ~WireObserver() = default;
  virtual void on_link(ClientId /*member*/, bool /*up*/) {}
  // `who` is a member's name, or the address of somebody who is none.
  virtual void on_trouble(std::string_view /*who*/, std::string_view /*what*/) {}
};

}  // namespace dfrost

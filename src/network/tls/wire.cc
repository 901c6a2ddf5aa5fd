#include "network/tls/wire.h"

#include <fmt/format.h>

#include <set>

#include "dfrost/error.h"
#include "network/tls/address.h"

namespace dfrost {
namespace {

[[noreturn]] void refuse_options(const std::string& message, std::string hint = {}) {
  throw Error(ErrorCode::invalid_argument, message, std::move(hint));
}

void check_members(const WireOptions& options) {
  std::set<ClientId> numbers;
  std::set<KeyFingerprint> keys;
  for (const auto& member : options.members) {
    if (member.number >= kMostMembers)
      refuse_options(fmt::format("member {} has number {}, the highest is {}", member.name, member.number,
                                 kMostMembers - 1));
    if (!numbers.insert(member.number).second)
      refuse_options(fmt::format("two members have number {}", member.number));
    if (!keys.insert(member.key).second)
      refuse_options(fmt::format("member {} has the key of another", member.name),
                     "every site needs a key of its own");
    if (!member.address.empty()) parse_network_address(member.address);
  }
  if (!numbers.contains(options.self))
    refuse_options(fmt::format("site {} is not among the members", options.self));
}

}  // namespace

void WireOptions::validate() const {
  check_members(*this);
  if (!(heartbeat_seconds > 0) || missed_heartbeats < 1)
    refuse_options("heartbeats need a time between them, and at least one must be missed");
  if (newest_version < kOldestWireVersion || newest_version > kWireVersion)
    refuse_options(fmt::format("wire version {}, where {} to {} are known", newest_version,
                               kOldestWireVersion, kWireVersion));
  if (limits.handshakes == 0 || limits.handshakes_per_address == 0 || !(limits.handshake_seconds > 0) ||
      !(limits.bytes_per_second > 0) || !(limits.frames_per_second > 0))
    refuse_options("a limit of 0 would let nobody in");
}

std::uint64_t StrangerCounts::total() const {
  std::uint64_t sum = 0;
  for (const auto& [reason, count] : by_reason) sum += count;
  return sum;
}

}  // namespace dfrost

// Who else is there, as a peer's driver sees it: narrow, so that the driver runs the same over TLS and over
// the mailboxes of one process. What a site says of itself is a pulse (network/tls/wire.h).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "network/tls/wire.h"

namespace dfrost {

struct PeerStatus;

// Pulse::stage.
enum class PeerStage : std::uint32_t {
  start,  // it waits for the others, or looks where they are
  train,
  exchange,  // its letters are sent, and it waits for those of others
  merge,
  evaluate,
  done,
  adopt,  // it has no state, listens for one, and sends nothing: nobody waits for it
};
inline constexpr std::array<std::string_view, 7> kStageNames = {"start",    "train", "exchange", "merge",
                                                                "evaluate", "done",  "adopt"};
inline std::string_view stage_name(std::uint32_t stage) {
  return stage < kStageNames.size() ? kStageNames[stage] : "unknown";
}
inline std::string_view to_string(PeerStage stage) { return stage_name(static_cast<std::uint32_t>(stage)); }

// Called from any thread.
class Company {
 public:
  virtual ~Company() = default;
  virtual void tell(const Pulse& pulse) = 0;
  virtual std::vector<PeerView> members() const = 0;  // all but this one
  virtual bool has_twin() const { return false; }     // another process with this identity is running
  virtual void describe(PeerStatus&) const {}         // what else the network knows: strangers, revisions
};

}  // namespace dfrost

// What a site says of itself while it runs, once a second: peer.json in its run folder, replaced as a whole.
// `peer status`, `watch`, the metrics and the screen all show this. docs/reference/records.md has every
// field.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/graph.h"

namespace dfrost {

inline constexpr const char* kStatusFile = "peer.json";

// Another member, as this site sees it.
struct MemberStatus {
  ClientId number = 0;
  std::string name;
  bool neighbour = false;  // in the round under way
  bool awaited = false;    // its letter is being waited for
  bool linked = false, alive = false;
  std::optional<std::uint64_t> round = {};  // that it said it is in
  std::string stage = {};
  double silent_seconds = 0;  // since anything came from it
  double round_trip_seconds = 0;
  double usual_seconds = 0;  // that its letters come behind ours, the median
  std::uint64_t sent_bytes = 0, received_bytes = 0, sent_messages = 0, received_messages = 0, reconnects = 0;
  std::uint64_t missing_messages =
      0;  // letters of it that did not come or were not believed, since the start
  std::string software = {}, trouble = {};
};

struct PeerStatus {
  std::string name, federation, version;
  ClientId number = 0;
  std::uint64_t revision = 1, revision_seen = 1;
  std::uint64_t rounds = 0;  // in all
  std::uint64_t done = 0;    // the last one that is done
  std::uint64_t round = 0;   // under way
  std::string stage = "start";
  std::uint64_t progress = 0;             // grows while anything goes on: pictures, steps, looks for others
  std::string waiting_for = {};           // in words; empty: nothing
  std::optional<double> last_merge = {};  // seconds since 1970
  std::uint64_t last_merge_round = 0;
  double usual_round_seconds = 0;  // the mean of the rounds since the start
  std::uint64_t merges = 0, jumps = 0, adoptions = 0, missing_messages = 0, refused_messages = 0;
  std::uint64_t sent_bytes = 0, received_bytes = 0;  // of letters, since the start
  std::map<std::string, double> stage_seconds = {};  // since the start
  std::optional<double> train_loss = {}, accuracy = {};
  std::map<std::string, std::uint64_t> strangers = {};  // connections refused, by reason
  double started = 0, updated = 0;                      // seconds since 1970
  std::string ended = {};                               // "done", "stopped", "failed"; empty: it runs
  std::string trouble = {};                             // why it failed
  std::vector<MemberStatus> members = {};
};

nlohmann::ordered_json to_json(const PeerStatus& status);
// Throws (data_loss) where it is not that; fields that are missing have their default.
PeerStatus status_from_json(const nlohmann::ordered_json& json);
PeerStatus read_status(const std::filesystem::path& run_folder);

// Health is to have merged lately, not to be a process that is alive.
enum class Health {
  merging,   // it merged within its last few rounds
  done,      // all rounds are done
  starting,  // it has not merged yet, and waits for the others no longer than usual
  waiting,   // it runs, but has not merged for long
  stopped,   // no process runs, and rounds are missing
};
std::string_view to_string(Health health);
// `running`: whether a process holds the site; `now`: seconds since 1970.
Health health_of(const PeerStatus& status, bool running, double now);
bool is_healthy(Health health);

// Prometheus' text format.
std::string metrics_text(const PeerStatus& status);

}  // namespace dfrost

#include "peer/status.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "dfrost/error.h"
#include "records/record_json.h"

namespace dfrost {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

template <typename T>
void take(const Json& json, const char* key, T& into) {
  if (const auto found = json.find(key); found != json.end() && !found->is_null()) into = found->get<T>();
}
template <typename T>
void take(const Json& json, const char* key, std::optional<T>& into) {
  if (const auto found = json.find(key); found != json.end() && !found->is_null()) into = found->get<T>();
}

Json to_json(const MemberStatus& m) {
  return {{"number", m.number},
          {"name", m.name},
          {"neighbour", m.neighbour},
          {"awaited", m.awaited},
          {"linked", m.linked},
          {"alive", m.alive},
          {"round", or_null(m.round)},
          {"stage", m.stage},
          {"silent_seconds", m.silent_seconds},
          {"round_trip_seconds", m.round_trip_seconds},
          {"usual_seconds", m.usual_seconds},
          {"sent_bytes", m.sent_bytes},
          {"received_bytes", m.received_bytes},
          {"sent_messages", m.sent_messages},
          {"received_messages", m.received_messages},
          {"missing_messages", m.missing_messages},
          {"reconnects", m.reconnects},
          {"software", m.software},
          {"trouble", m.trouble}};
}

MemberStatus member_from(const Json& json) {
  MemberStatus m;
  take(json, "number", m.number);
  take(json, "name", m.name);
  take(json, "neighbour", m.neighbour);
  take(json, "awaited", m.awaited);
  take(json, "linked", m.linked);
  take(json, "alive", m.alive);
  take(json, "round", m.round);
  take(json, "stage", m.stage);
  take(json, "silent_seconds", m.silent_seconds);
  take(json, "round_trip_seconds", m.round_trip_seconds);
  take(json, "usual_seconds", m.usual_seconds);
  take(json, "sent_bytes", m.sent_bytes);
  take(json, "received_bytes", m.received_bytes);
  take(json, "sent_messages", m.sent_messages);
  take(json, "received_messages", m.received_messages);
  take(json, "missing_messages", m.missing_messages);
  take(json, "reconnects", m.reconnects);
  take(json, "software", m.software);
  take(json, "trouble", m.trouble);
  return m;
}

}  // namespace

Json to_json(const PeerStatus& s) {
  Json members = Json::array();
  for (const auto& member : s.members) members.push_back(to_json(member));
  return {{"schema", kRecordSchema},
          {"name", s.name},
          {"number", s.number},
          {"federation", s.federation},
          {"version", s.version},
          {"revision", s.revision},
          {"revision_seen", s.revision_seen},
          {"rounds", s.rounds},
          {"done", s.done},
          {"round", s.round},
          {"stage", s.stage},
          {"progress", s.progress},
          {"waiting_for", s.waiting_for},
          {"last_merge", or_null(s.last_merge)},
          {"last_merge_round", s.last_merge_round},
          {"usual_round_seconds", s.usual_round_seconds},
          {"merges", s.merges},
          {"jumps", s.jumps},
          {"adoptions", s.adoptions},
          {"missing_messages", s.missing_messages},
          {"refused_messages", s.refused_messages},
          {"sent_bytes", s.sent_bytes},
          {"received_bytes", s.received_bytes},
          {"stage_seconds", s.stage_seconds},
          {"train_loss", or_null(s.train_loss)},
          {"accuracy", or_null(s.accuracy)},
          {"strangers", s.strangers},
          {"started", s.started},
          {"updated", s.updated},
          {"ended", s.ended},
          {"trouble", s.trouble},
          {"members", members}};
}

PeerStatus status_from_json(const Json& json) {
  PeerStatus s;
  try {
    json.at("round");  // at least this is there
    take(json, "name", s.name);
    take(json, "number", s.number);
    take(json, "federation", s.federation);
    take(json, "version", s.version);
    take(json, "revision", s.revision);
    take(json, "revision_seen", s.revision_seen);
    take(json, "rounds", s.rounds);
    take(json, "done", s.done);
    take(json, "round", s.round);
    take(json, "stage", s.stage);
    take(json, "progress", s.progress);
    take(json, "waiting_for", s.waiting_for);
    take(json, "last_merge", s.last_merge);
    take(json, "last_merge_round", s.last_merge_round);
    take(json, "usual_round_seconds", s.usual_round_seconds);
    take(json, "merges", s.merges);
    take(json, "jumps", s.jumps);
    take(json, "adoptions", s.adoptions);
    take(json, "missing_messages", s.missing_messages);
    take(json, "refused_messages", s.refused_messages);
    take(json, "sent_bytes", s.sent_bytes);
    take(json, "received_bytes", s.received_bytes);
    take(json, "stage_seconds", s.stage_seconds);
    take(json, "train_loss", s.train_loss);
    take(json, "accuracy", s.accuracy);
    take(json, "strangers", s.strangers);
    take(json, "started", s.started);
    take(json, "updated", s.updated);
    take(json, "ended", s.ended);
    take(json, "trouble", s.trouble);
    for (const auto& member : json.at("members")) s.members.push_back(member_from(member));
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::data_loss, fmt::format("this is no status of a site: {}", error.what()));
  }
  return s;
}

PeerStatus read_status(const std::filesystem::path& run_folder) {
  const auto file = run_folder / kStatusFile;
  if (!std::filesystem::exists(file))
    throw Error(ErrorCode::not_found, "the site has not been started yet", "start it by 'dfrost peer start'")
        .at(run_folder.parent_path().string());
  try {
    return status_from_json(read_json_file(file));
  } catch (Error& error) {
    throw error.at(file.string());
  }
}

std::string_view to_string(Health health) {
  switch (health) {
    case Health::merging: return "merging";
    case Health::done: return "done";
    case Health::starting: return "starting";
    case Health::waiting: return "waiting";
    case Health::stopped: return "stopped";
  }
  return "unknown";
}

Health health_of(const PeerStatus& status, bool running, double now) {
  if (status.rounds > 0 && status.done >= status.rounds) return Health::done;
  if (!running) return Health::stopped;
  // Three rounds as they usually are, and never less than a minute.
  const double lately = std::max(60.0, 3 * status.usual_round_seconds);
  const double since = status.last_merge ? std::max(*status.last_merge, status.started) : status.started;
  if (now - since > lately) return Health::waiting;
  return status.last_merge ? Health::merging : Health::starting;
}

bool is_healthy(Health health) {
  return health == Health::merging || health == Health::done || health == Health::starting;
}

}  // namespace dfrost

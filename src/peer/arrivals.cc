#include "peer/arrivals.h"

#include <fmt/format.h>

#include "dfrost/error.h"
#include "records/record_file.h"
#include "records/record_json.h"

namespace dfrost {

using Json = nlohmann::ordered_json;

Json to_json(const RoundArrivals& arrivals) {
  Json json = {{"schema", kRecordSchema}, {"round", arrivals.round}};
  if (arrivals.jumped_from) json["jumped_from"] = *arrivals.jumped_from;
  if (arrivals.adopted) json["adopted"] = *arrivals.adopted;
  if (arrivals.absent) json["absent"] = true;
  if (arrivals.phases.empty()) return json;
  if (arrivals.first_phase > 0) json["first_phase"] = arrivals.first_phase;
  Json phases = Json::array();
  for (const auto& phase : arrivals.phases) {
    Json missing = Json::array();
    for (const auto& one : phase.missing) missing.push_back({{"sender", one.sender}, {"why", one.why}});
    phases.push_back({{"arrived", phase.arrived}, {"missing", missing}});
  }
  json["phases"] = phases;
  return json;
}

RoundArrivals arrivals_from_json(const Json& json) {
  try {
    RoundArrivals arrivals;
    arrivals.round = json.at("round").get<std::uint64_t>();
    if (json.contains("jumped_from")) arrivals.jumped_from = json["jumped_from"].get<std::uint64_t>();
    if (json.contains("adopted")) arrivals.adopted = json["adopted"].get<ClientId>();
    arrivals.absent = json.value("absent", false);
    arrivals.first_phase = json.value("first_phase", std::size_t{0});
    if (!json.contains("phases")) return arrivals;
    for (const auto& phase : json["phases"]) {
      auto& read = arrivals.phases.emplace_back();
      read.arrived = phase.at("arrived").get<std::vector<ClientId>>();
      for (const auto& one : phase.at("missing"))
        read.missing.push_back({one.at("sender").get<ClientId>(), one.at("why").get<std::string>()});
    }
    return arrivals;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::data_loss,
                fmt::format("a line is no record of a round's arrivals: {}", error.what()));
  }
}

void add_phases(const RoundArrivals& later, RoundArrivals& round) {
  if (later.first_phase > round.phases.size())
    throw Error(ErrorCode::data_loss, fmt::format("no record of what arrived in phase {} of round {}",
                                                  round.phases.size(), later.round));
  round.phases.resize(later.first_phase);
  round.phases.insert(round.phases.end(), later.phases.begin(), later.phases.end());
}

std::vector<RoundArrivals> read_arrivals(const std::filesystem::path& file) {
  std::vector<RoundArrivals> all;
  try {
    for (const auto& line : read_records(file)) all.push_back(arrivals_from_json(line));
  } catch (Error& error) {
    throw error.at(file.string());
  }
  return all;
}

}  // namespace dfrost

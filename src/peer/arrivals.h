// arrivals.jsonl: what reached a site in each of its rounds, one line a round: with the settings and the
// pictures that is all there is to compute the run again (peer/replay.h). Written before the round's
// checkpoint and cut back to it, so that the two agree after any stop.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "network/graph.h"
#include "run/node_report.h"

namespace dfrost {

inline constexpr const char* kArrivalsFile = "arrivals.jsonl";

// A round at a site. It either took part, or came to the end of the round in another way. What comes before
// the first round, as round 0, has a line for each of its phases.
struct RoundArrivals {
  std::uint64_t round = 0;
  std::size_t first_phase = 0;                    // of those that follow
  std::vector<PhaseArrivals> phases = {};         // where it took part
  std::optional<std::uint64_t> jumped_from = {};  // the last round it had done: those between it did not
  std::optional<ClientId> adopted = {};           // whose state, of this round, it took over
  bool absent = false;                            // the plan left it out of this round
};

nlohmann::ordered_json to_json(const RoundArrivals& arrivals);
// Throws (data_loss) where it is not that.
RoundArrivals arrivals_from_json(const nlohmann::ordered_json& json);
std::vector<RoundArrivals> read_arrivals(const std::filesystem::path& file);
// Adds the phases of a later line to those of its round; phases that were done once more are those.
void add_phases(const RoundArrivals& later, RoundArrivals& round);

}  // namespace dfrost

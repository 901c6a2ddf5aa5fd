// Who talks to whom in a run: what decides it, small enough to be kept with a run's figures, and a drawing of
// its first round made from that alone.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "config/config.h"
#include "network/faults.h"
#include "network/topology.h"

namespace dfrost {

struct StudyNetwork {
  TopologyOptions topology = {};
  FaultOptions faults = {};
  std::size_t clients = 0;
  Seed seed = 0;
};

// Nothing where clients do not meet as peers, or where a file has their links, which need not be here later.
std::optional<StudyNetwork> network_of(const RunConfig& config);

nlohmann::ordered_json to_json(const StudyNetwork& network);
StudyNetwork network_from_json(const nlohmann::ordered_json& json);

// An <img> for an HTML page, with the drawing in it. A picture of its own, so that neither its style nor the
// page's reaches the other.
std::string network_html(const StudyNetwork& network, const std::string& label);

}  // namespace dfrost

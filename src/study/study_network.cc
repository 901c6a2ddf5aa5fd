#include "study/study_network.h"

#include <fmt/format.h>

#include <string_view>

#include "draw/network_drawing.h"
#include "study/study_chart.h"

namespace dfrost {
namespace {

// As much as an address in an attribute needs.
std::string as_address(std::string_view svg) {
  std::string address = "data:image/svg+xml,";
  for (const char c : svg) {
    if (std::string_view("%#<>\"&\n").find(c) == std::string_view::npos)
      address += c;
    else
      address += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return address;
}

}  // namespace

std::optional<StudyNetwork> network_of(const RunConfig& config) {
  const auto clients = config.clients();
  const auto& topology = config.network.topology;
  if (!clients || config.method.cooperation != Cooperation::peers || topology.kind == TopologyKind::file)
    return std::nullopt;
  return StudyNetwork{topology, config.network.faults, *clients, config.run.seed};
}

nlohmann::ordered_json to_json(const StudyNetwork& network) {
  return {{"topology", to_string(network.topology.kind)},
          {"degree", network.topology.degree},
          {"static", network.topology.is_static},
          {"link_failure", network.faults.link_failure},
          {"active_clients", network.faults.active_clients},
          {"clients", network.clients},
          {"seed", network.seed}};
}

StudyNetwork network_from_json(const nlohmann::ordered_json& json) {
  StudyNetwork network;
  network.topology.kind = parse_topology_kind(json.at("topology").get<std::string>());
  network.topology.degree = json.at("degree").get<std::size_t>();
  network.topology.is_static = json.at("static").get<bool>();
  network.faults.link_failure = json.at("link_failure").get<double>();
  network.faults.active_clients = json.at("active_clients").get<std::size_t>();
  network.clients = json.at("clients").get<std::size_t>();
  network.seed = json.at("seed").get<Seed>();
  return network;
}

std::string network_html(const StudyNetwork& network, const std::string& label) {
  const Topology topology(network.topology, network.clients, network.seed);
  const auto round = draw_round(topology, network.faults, 1);
  const auto words = fmt::format("{} clients, {} links in round 1 of seed {}", network.clients,
                                 round.graph.edges().size(), network.seed);
  const auto svg = draw_svg(round, topology.placement(1), {label, words});
  return fmt::format("<img class=\"network\" alt=\"{}: {}\" src=\"{}\">", escape_html(label), words,
                     as_address(svg));
}

}  // namespace dfrost

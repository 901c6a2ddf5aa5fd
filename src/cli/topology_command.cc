#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "cli/command.h"
#include "draw/network_drawing.h"
#include "measure/mixing_factor.h"
#include "network/faults.h"

namespace dfrost::cli {
namespace {

// Nobody waits for more.
constexpr std::size_t kMostClients = 1'000'000;
constexpr std::uint64_t kMostRounds = 1'000'000'000;

struct TopologyShowArguments {
  std::string kind = "regular";
  TopologyOptions topology;
  FaultOptions faults;
  std::size_t clients = 50;
  Seed seed = 1;
  std::uint64_t round = 1;
  std::uint64_t rounds = 1;
  std::string svg;
  bool json = false;
};

// What is said of one round.
struct RoundReport {
  RoundNetwork network;
  DegreeRange degrees;
  std::size_t components = 0;
  double mixing_factor = 0;
  double active_mixing_factor = 0;  // the same where nobody is absent
};

RoundReport report_round(const Topology& topology, const FaultOptions& faults, std::uint64_t round) {
  RoundReport report;
  report.network = draw_round(topology, faults, round);
  const Graph active = report.network.graph_of_active();
  report.degrees = degree_range(active);
  report.components = count_components(active);
  report.active_mixing_factor = mixing_factor(MixingMatrix(active));
  report.mixing_factor = report.network.absent_clients() == 0
                             ? report.active_mixing_factor
                             : mixing_factor(MixingMatrix(report.network.graph));
  return report;
}

// What is said of several rounds in a row.
struct WindowReport {
  double mean = 0;  // of the mixing factor among active clients
  double min = 1;
  double max = 0;
  std::uint64_t connected_rounds = 0;
  // Whether news can get from everybody to everybody: all rounds' links taken together.
  bool connected_together = false;
};

WindowReport report_window(const Topology& topology, const TopologyShowArguments& arguments) {
  WindowReport window;
  std::vector<Edge> together;
  for (std::uint64_t i = 0; i < arguments.rounds; ++i) {
    const auto round = report_round(topology, arguments.faults, arguments.round + i);
    window.mean += round.active_mixing_factor / static_cast<double>(arguments.rounds);
    window.min = std::min(window.min, round.active_mixing_factor);
    window.max = std::max(window.max, round.active_mixing_factor);
    window.connected_rounds += round.components <= 1 ? 1 : 0;
    const auto& edges = round.network.graph.edges();
    together.insert(together.end(), edges.begin(), edges.end());
    std::sort(together.begin(), together.end());
    together.erase(std::unique(together.begin(), together.end()), together.end());
  }
  window.connected_together = is_connected(Graph(topology.clients(), std::move(together)));
  return window;
}

std::string describe(const TopologyOptions& options) {
  const bool has_degree = options.kind == TopologyKind::regular || options.kind == TopologyKind::erdos_renyi;
  return fmt::format("{}{}{}", options.is_static ? "static " : "", to_string(options.kind),
                     has_degree ? fmt::format(", degree {}", options.degree) : std::string());
}

std::string count_clients(std::size_t clients) {
  return fmt::format("{} client{}", clients, clients == 1 ? "" : "s");
}

std::string describe_links(const RoundNetwork& network) {
  std::string text = fmt::format("{} of {} work", network.graph.edges().size(), network.planned_links());
  if (!network.failed.empty()) text += fmt::format(", {} failed", network.failed.size());
  if (!network.unused.empty()) text += fmt::format(", {} lead to absent clients", network.unused.size());
  return text;
}

void print_document(const TopologyShowArguments& arguments, const RoundReport& round,
                    const std::optional<WindowReport>& window) {
  nlohmann::ordered_json links = nlohmann::ordered_json::array();
  for (const auto& [first, second] : round.network.graph.edges()) links.push_back({first, second});
  nlohmann::ordered_json document = {
      {"topology", to_string(arguments.topology.kind)},
      {"static", arguments.topology.is_static},
      {"clients", arguments.clients},
      {"seed", arguments.seed},
      {"round", arguments.round},
      {"planned_links", round.network.planned_links()},
      {"working_links", round.network.graph.edges().size()},
      {"failed_links", round.network.failed.size()},
      {"unused_links", round.network.unused.size()},
      {"absent_clients", round.network.absent_clients()},
      {"degree", {{"min", round.degrees.min}, {"mean", round.degrees.mean}, {"max", round.degrees.max}}},
      {"components", round.components},
      {"connected", round.components <= 1},
      {"mixing_factor", round.mixing_factor},
      {"active_mixing_factor", round.active_mixing_factor},
      {"links", std::move(links)},
  };
  if (window) {
    document["window"] = {
        {"rounds", arguments.rounds},
        {"active_mixing_factor", {{"mean", window->mean}, {"min", window->min}, {"max", window->max}}},
        {"connected_rounds", window->connected_rounds},
        {"connected_together", window->connected_together},
    };
  }
  print_json(document);
}

void print_table(const TopologyShowArguments& arguments, const RoundReport& round,
                 const std::optional<WindowReport>& window) {
  const auto line = [](std::string_view name, const std::string& value) {
    fmt::print("{:<16}{}\n", name, value);
  };
  const auto& network = round.network;
  line("network", fmt::format("{}: {}, seed {}, round {}", describe(arguments.topology),
                              count_clients(arguments.clients), arguments.seed, arguments.round));
  line("links", describe_links(network));
  line("clients",
       fmt::format("{} of {} take part", arguments.clients - network.absent_clients(), arguments.clients));
  line("degrees",
       fmt::format("min {}, mean {:.2f}, max {}", round.degrees.min, round.degrees.mean, round.degrees.max));
  line("connected", round.components <= 1 ? "yes" : fmt::format("no: {} parts", round.components));
  line("mixing factor",
       fmt::format("{:.6f}   (0: all agree after one exchange; 1: some never do)", round.mixing_factor));
  if (network.absent_clients() > 0) {
    line("of those active", fmt::format("{:.6f}", round.active_mixing_factor));
  }
  if (!window) return;
  fmt::print("\n");
  line("rounds", fmt::format("{} to {}", arguments.round, arguments.round + arguments.rounds - 1));
  line("mixing factor",
       fmt::format("mean {:.6f}, min {:.6f}, max {:.6f}", window->mean, window->min, window->max));
  line("connected", fmt::format("in {} of {} rounds; all rounds together: {}", window->connected_rounds,
                                arguments.rounds, window->connected_together ? "yes" : "no"));
}

void write_picture(const TopologyShowArguments& arguments, const Topology& topology,
                   const RoundReport& round) {
  const DrawingText text{.title = fmt::format("{}, {}, round {}", describe(arguments.topology),
                                              count_clients(arguments.clients), arguments.round),
                         .subtitle = fmt::format("links: {}  ·  ρ = {:.4f}  ·  {}",
                                                 describe_links(round.network), round.active_mixing_factor,
                                                 round.components <= 1 ? "connected" : "not connected")};
  write_file_atomically(arguments.svg, draw_svg(round.network, topology.placement(arguments.round), text));
}

void show_topology(TopologyShowArguments arguments) {
  arguments.topology.kind = parse_topology_kind(arguments.kind);
  arguments.topology.validate(arguments.clients);
  arguments.faults.validate(arguments.clients);
  const Topology topology(arguments.topology, arguments.clients, arguments.seed);
  const auto round = report_round(topology, arguments.faults, arguments.round);
  std::optional<WindowReport> window;
  if (arguments.rounds > 1) window = report_window(topology, arguments);
  if (!arguments.svg.empty()) write_picture(arguments, topology, round);
  if (arguments.json) return print_document(arguments, round, window);
  print_table(arguments, round, window);
}

void add_topology_show_command(CLI::App& topology) {
  const CLI::Range rounds(std::uint64_t{1}, kMostRounds);
  auto arguments = std::make_shared<TopologyShowArguments>();
  auto* command = add_command(
      topology, "show", "Say who talks to whom in a round, how well that mixes, and draw it.",
      {"dfrost topology show --clients 50 --degree 5 --round 3",
       "dfrost topology show --kind grid --clients 40 --svg grid.svg",
       "dfrost topology show --kind ring --link-failure 0.2 --rounds 100   over a window of rounds"});
  command->add_option("--kind", arguments->kind,
                      "ring, grid, torus, exponential, erdos-renyi, regular (default), full or file");
  command->add_option("--clients", arguments->clients, "Number of clients (default 50)")
      ->check(CLI::Range(std::size_t{1}, kMostClients));
  command->add_option("--degree", arguments->topology.degree,
                      "Neighbours per client, for regular and erdos-renyi (default 5)");
  command->add_flag("--static", arguments->topology.is_static, "One graph for all rounds");
  command->add_option("--file", arguments->topology.file, "For --kind file: two client numbers per line");
  command->add_option("--link-failure", arguments->faults.link_failure,
                      "Probability that a link fails in a round (default 0)");
  command->add_option("--active", arguments->faults.active_clients,
                      "Number of clients that take part in a round (default 0: all)");
  command->add_option("--seed", arguments->seed, "Seed of the federation (default 1)");
  command->add_option("--round", arguments->round, "The round, counted from 1 as in a run (default 1)")
      ->check(rounds);
  command->add_option("--rounds", arguments->rounds, "Also summarise so many rounds from there on")
      ->check(rounds);
  command->add_option("--svg", arguments->svg, "Draw the network of the round into this file");
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { show_topology(*arguments); });
}

}  // namespace

void add_topology_commands(CLI::App& app) {
  auto* topology = add_command(app, "topology", "Look at the network that clients exchange over.",
                               {"dfrost topology show --clients 50 --degree 5 --svg network.svg"});
  topology->require_subcommand(1);
  add_topology_show_command(*topology);
}

}  // namespace dfrost::cli

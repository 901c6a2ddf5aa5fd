// The mixing factor of every topology, against NumPy's own weights and singular values.

#include <gtest/gtest.h>

#include <fstream>
#include <iomanip>

#include "measure/mixing_factor.h"
#include "network/faults.h"
#include "support/support.h"

namespace dfrost {
namespace {

// A line per graph: name, clients, ρ by each solver, then its links.
void write_case(std::ostream& out, const std::string& name, const Graph& graph) {
  const MixingMatrix mixing(graph);
  out << name << ' ' << graph.clients() << ' ' << mixing_factor(mixing) << ' ' << mixing_factor_dense(mixing)
      << ' ' << mixing_factor_lanczos(mixing);
  for (const auto& [first, second] : graph.edges()) out << ' ' << first << '-' << second;
  out << '\n';
}

TEST(MixingFactor, IsThatOfNumPyForEveryTopology) {
  const test::TemporaryFolder folder;
  std::ofstream out(folder / "cases.txt");
  out << std::setprecision(17);
  for (const auto kind : kTopologyKinds) {
    if (kind == TopologyKind::file) continue;
    for (const std::size_t clients : {1u, 2u, 10u, 50u, 250u}) {
      for (const double failure : {0.0, 0.2}) {
        const std::size_t degree = clients > 5 ? 5 : 1;
        const Topology topology({.kind = kind, .degree = degree}, clients, 11);
        write_case(out, std::string(to_string(kind)),
                   draw_round(topology, {.link_failure = failure}, 3).graph);
      }
    }
  }
  const Topology regular({.degree = 4}, 40, 11);
  write_case(out, "absent", draw_round(regular, {.active_clients = 30}, 3).graph);
  out.close();
  test::run_python("measure/mixing_oracle.py", (folder / "cases.txt").string());
}

}  // namespace
}  // namespace dfrost

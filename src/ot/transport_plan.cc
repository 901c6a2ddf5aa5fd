#include "ot/transport_plan.h"

#include <fmt/format.h>
#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "dfrost/error.h"
#include "ot/assignment.h"

namespace dfrost {
namespace {

using Graph = lemon::SmartDigraph;
using Simplex = lemon::NetworkSimplex<Graph, std::int64_t, std::int64_t>;

constexpr double kWhole = 0x1.0p60;

// Masses as whole units that sum to kWhole exactly; what rounding left over goes to the largest.
std::vector<std::int64_t> in_units(std::span<const double> masses) {
  std::vector<std::int64_t> units;
  auto left = static_cast<std::int64_t>(kWhole);
  for (const double mass : masses) left -= units.emplace_back(std::llround(mass * kWhole));
  *std::ranges::max_element(units) += left;
  return units;
}

// The largest cost in units. Prices add up along paths of all points, and must stay inside 64 bits.
double cost_units(std::size_t points) { return 0x1.0p60 / static_cast<double>(points + 2); }

double largest_cost(const DoubleMatrix& cost, std::size_t rows, std::size_t cols) {
  double largest = 0;
  for (std::size_t r = 0; r < rows; ++r)
    largest = std::max(largest, *std::ranges::max_element(cost.row(r).first(cols)));
  return largest;
}

// Every row joined to every column.
class Network {
 public:
  Network(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols), balance_(graph_), cost_(graph_) {
    if (rows * cols > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw Error(ErrorCode::resource_exhausted,
                  fmt::format("a plan between {} and {} points is too large", rows, cols));
    }
    graph_.reserveNode(static_cast<int>(rows + cols));
    graph_.reserveArc(static_cast<int>(rows * cols));
    for (std::size_t n = 0; n < rows + cols; ++n) graph_.addNode();
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < cols; ++c) graph_.addArc(node(r), node(rows + c));
    }
  }

  void set_masses(std::span<const double> supply, std::span<const double> demand) {
    const auto out = in_units(supply), in = in_units(demand);
    for (std::size_t r = 0; r < rows_; ++r) balance_[node(r)] = out[r];
    for (std::size_t c = 0; c < cols_; ++c) balance_[node(rows_ + c)] = -in[c];
  }

  void set_costs(const DoubleMatrix& cost) {
    const double largest = largest_cost(cost, rows_, cols_);
    const double scale = largest > 0 ? cost_units(rows_ + cols_) / largest : 0;
    for (std::size_t r = 0; r < rows_; ++r) {
      for (std::size_t c = 0; c < cols_; ++c) cost_[arc(r, c)] = std::llround(cost(r, c) * scale);
    }
  }

  std::vector<PlanEntry> cheapest_plan() const {
    Simplex simplex(graph_);
    if (simplex.costMap(cost_).supplyMap(balance_).run() != Simplex::OPTIMAL) {
      throw Error(ErrorCode::internal,
                  "the network simplex found no plan between two measures of equal mass");
    }
    std::vector<PlanEntry> plan;
    for (std::size_t r = 0; r < rows_; ++r) {
      for (std::size_t c = 0; c < cols_; ++c) {
        const auto units = simplex.flow(arc(r, c));
        if (units > 0) plan.push_back({r, c, static_cast<double>(units) / kWhole});
      }
    }
    return plan;
  }

 private:
  // LEMON counts nodes and arcs in the order in which they were added.
  Graph::Node node(std::size_t id) const { return Graph::nodeFromId(static_cast<int>(id)); }
  Graph::Arc arc(std::size_t r, std::size_t c) const {
    return Graph::arcFromId(static_cast<int>(r * cols_ + c));
  }

  std::size_t rows_;
  std::size_t cols_;
  Graph graph_;
  Graph::NodeMap<std::int64_t> balance_;
  Graph::ArcMap<std::int64_t> cost_;
};

}  // namespace

std::vector<PlanEntry> optimal_plan(const DoubleMatrix& cost, std::span<const double> supply,
                                    std::span<const double> demand) {
  Network network(supply.size(), demand.size());
  network.set_masses(supply, demand);
  network.set_costs(cost);
  return network.cheapest_plan();
}

std::vector<PlanEntry> optimal_matching(const DoubleMatrix& cost) {
  AssignmentSolver solver(cost.rows());
  const auto column_of = solver.solve(cost);
  std::vector<PlanEntry> plan;
  const double mass = 1.0 / static_cast<double>(cost.rows());
  for (std::size_t row = 0; row < cost.rows(); ++row) plan.push_back({row, column_of[row], mass});
  return plan;
}

}  // namespace dfrost

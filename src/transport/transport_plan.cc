#include "transport/transport_plan.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "transport/assignment.h"

namespace dfrost {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Row prices u and column prices v keep cost − u − v ≥ 0 everywhere and = 0 wherever mass flows, which is
// what makes a plan optimal. Each search finds the cheapest way for the mass still at one row to reach a
// column with room, possibly by moving over mass that is already placed.
class PlanSolver {
 public:
  PlanSolver(const Matrix& cost, std::span<const double> supply, std::span<const double> demand)
      : cost_(cost),
        supply_(supply.begin(), supply.end()),
        room_(demand.begin(), demand.end()),
        row_price_(supply.size()),
        column_price_(demand.size()),
        flow_into_(demand.size()),
        row_distance_(supply.size()),
        column_before_(supply.size()),
        column_distance_(demand.size()),
        row_before_(demand.size()),
        is_closed_(demand.size()) {}

  std::vector<PlanEntry> solve() {
    place_where_cheapest();
    for (std::size_t row = 0; row < supply_.size(); ++row) {
      while (supply_[row] > 0) {
        const std::size_t column = search_from(row);
        if (column == kNone) break;  // the sums differ in the last bit, and this is that bit
        push(row, column);
      }
    }
    return entries();
  }

 private:
  struct Flow {
    std::size_t row;
    double mass;
  };

  void add_flow(std::size_t row, std::size_t column, double mass) {
    for (auto& flow : flow_into_[column]) {
      if (flow.row == row) {
        flow.mass += mass;
        return;
      }
    }
    flow_into_[column].push_back({row, mass});
  }

  double& flow(std::size_t row, std::size_t column) {
    return std::find_if(flow_into_[column].begin(), flow_into_[column].end(),
                        [&](const Flow& f) { return f.row == row; })
        ->mass;
  }

  void place_where_cheapest() {
    for (std::size_t row = 0; row < supply_.size(); ++row) {
      const auto costs = cost_.row(row).first(room_.size());
      const auto best =
          static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
      row_price_[row] = costs[best];
      const double mass = std::min(supply_[row], room_[best]);
      if (mass <= 0) continue;
      flow_into_[best].push_back({row, mass});
      supply_[row] -= mass;
      room_[best] -= mass;
    }
  }

  std::size_t nearest_open_column() const {
    std::size_t nearest = kNone;
    double distance = kInfinity;
    for (std::size_t column = 0; column < room_.size(); ++column) {
      if (!is_closed_[column] && column_distance_[column] < distance) {
        distance = column_distance_[column];
        nearest = column;
      }
    }
    return nearest;
  }

  void reach_row(std::size_t row, double distance, std::size_t from_column) {
    row_distance_[row] = distance;
    column_before_[row] = from_column;
    reached_rows_.push_back(row);
    const auto costs = cost_.row(row);
    const double offset = row_price_[row] - distance;
    for (std::size_t column = 0; column < room_.size(); ++column) {
      const double through = costs[column] - column_price_[column] - offset;
      if (!is_closed_[column] && through < column_distance_[column]) {
        column_distance_[column] = through;
        row_before_[column] = row;
      }
    }
  }

  // The nearest column with room, or kNone; prices are moved so that the way there costs nothing.
  std::size_t search_from(std::size_t start) {
    std::fill(row_distance_.begin(), row_distance_.end(), kInfinity);
    std::fill(column_distance_.begin(), column_distance_.end(), kInfinity);
    std::fill(is_closed_.begin(), is_closed_.end(), char{0});
    reached_rows_.clear();
    closed_columns_.clear();
    reach_row(start, 0, kNone);
    std::size_t column = nearest_open_column();
    while (column != kNone && room_[column] <= 0) {
      is_closed_[column] = 1;
      closed_columns_.push_back(column);
      for (const auto& flow : flow_into_[column]) {
        if (row_distance_[flow.row] == kInfinity) reach_row(flow.row, column_distance_[column], column);
      }
      column = nearest_open_column();
    }
    if (column == kNone) return kNone;
    const double length = column_distance_[column];
    for (const std::size_t row : reached_rows_) row_price_[row] += length - row_distance_[row];
    for (const std::size_t closed : closed_columns_)
      column_price_[closed] -= length - column_distance_[closed];
    return column;
  }

  // Moves as much mass along the way as its narrowest part lets through.
  void push(std::size_t start, std::size_t end) {
    double mass = std::min(supply_[start], room_[end]);
    for (std::size_t row = row_before_[end]; row != start; row = row_before_[column_before_[row]]) {
      mass = std::min(mass, flow(row, column_before_[row]));
    }
    supply_[start] -= mass;
    room_[end] -= mass;
    for (std::size_t column = end;;) {
      const std::size_t row = row_before_[column];
      add_flow(row, column, mass);
      if (row == start) return;
      column = column_before_[row];
      flow(row, column) -= mass;
      std::erase_if(flow_into_[column], [](const Flow& f) { return f.mass <= 0; });
    }
  }

  std::vector<PlanEntry> entries() const {
    std::vector<PlanEntry> plan;
    for (std::size_t column = 0; column < room_.size(); ++column) {
      for (const auto& flow : flow_into_[column]) plan.push_back({flow.row, column, flow.mass});
    }
    std::sort(plan.begin(), plan.end(), [](const PlanEntry& a, const PlanEntry& b) {
      return std::tie(a.from, a.to) < std::tie(b.from, b.to);
    });
    return plan;
  }

  const Matrix& cost_;
  std::vector<double> supply_;  // still to be placed
  std::vector<double> room_;    // still to be filled
  std::vector<double> row_price_;
  std::vector<double> column_price_;
  std::vector<std::vector<Flow>> flow_into_;  // per column, positive masses only
  // Of the search under way:
  std::vector<double> row_distance_;
  std::vector<std::size_t> column_before_;
  std::vector<double> column_distance_;
  std::vector<std::size_t> row_before_;
  std::vector<char> is_closed_;
  std::vector<std::size_t> reached_rows_;
  std::vector<std::size_t> closed_columns_;
};

}  // namespace

std::vector<PlanEntry> optimal_plan(const Matrix& cost, std::span<const double> supply,
                                    std::span<const double> demand) {
  return PlanSolver(cost, supply, demand).solve();
}

std::vector<PlanEntry> optimal_matching(const Matrix& cost) {
  AssignmentSolver solver(cost.rows());
  const auto column_of = solver.solve(cost);
  std::vector<PlanEntry> plan;
  const double mass = 1.0 / static_cast<double>(cost.rows());
  for (std::size_t row = 0; row < cost.rows(); ++row) plan.push_back({row, column_of[row], mass});
  return plan;
}

}  // namespace dfrost

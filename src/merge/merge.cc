#include "dfrost/merge.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "base/thread_pool.h"
#include "dfrost/error.h"
#include "dfrost/wasserstein.h"
#include "merge/neighbourhood.h"
#include "merge/ot_merge.h"
#include "merge/start.h"
#include "ot/checks.h"
#include "ot/free_support_barycenter.h"
#include "ot/row_kernels.h"
#include "ot/transport_plan.h"

namespace dfrost {
namespace {

// Far beyond any use, and every product of two of them still is a normal number.
constexpr double kLeast = 1e-60, kMost = 1e60;

void check_range(double value, bool may_be_zero, const char* name) {
  if (may_be_zero && value == 0) return;
  if (value >= kLeast && value <= kMost) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is {}; it must be {}a number from {:g} to {:g}", name, value,
                          may_be_zero ? "0 or " : "", kLeast, kMost))
      .at(name);
}

void check_sizes(const MergeInput& input, MatrixView<float> merged, const MergeOptions& options) {
  if (input.senders.empty()) {
    throw Error(ErrorCode::invalid_argument, "no prompt sets to merge",
                "a client's own set is the first sender");
  }
  const std::size_t width = input.senders.front().cols();
  if (merged.empty())
    throw Error(ErrorCode::invalid_argument, "a merge into n = 0 prompts was asked for").at("merged");
  if (merged.cols() != width) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the merged set has rows of {}, the senders of {}", merged.cols(), width))
        .at("merged");
  }
  if (options.init != MergeInit::previous) return;
  check_points(input.previous, width, "previous");
  if (input.previous.rows() != merged.rows()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("the previous set has {} prompts, the merged one {}",
                                                         input.previous.rows(), merged.rows()))
        .at("previous");
  }
}

// The parts of a summary that only the OT merge has more to say about.
MergeSummary summary_of_plan(const Neighbourhood& all, std::vector<double> plan, std::size_t prompts) {
  MergeSummary summary;
  summary.column_mass.assign(prompts, 0.0);
  for (std::size_t cell = 0; cell < plan.size(); ++cell) summary.column_mass[cell % prompts] += plan[cell];
  summary.off_index_mass = off_index_mass(all, plan, prompts);
  summary.theorem = {.bound = std::numeric_limits<double>::infinity(), .smallest_delta = 0, .held = true};
  summary.plan = std::move(plan);
  return summary;
}

MergedPrompts average_merge(const Neighbourhood& all, std::span<const MatrixView<const float>> senders,
                            std::size_t prompts) {
  for (std::size_t s = 0; s < senders.size(); ++s) {
    if (senders[s].rows() == prompts) continue;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("an average by index of {} prompts cannot take a set of {}", prompts, senders[s].rows()),
        "merge sets of different sizes with kind = ot or barycenter")
        .at(fmt::format("sender {}", s));
  }
  DoubleMatrix average(prompts, all.rows.cols());
  std::vector<double> plan(all.mass.size() * prompts);
  for (std::size_t a = 0; a < all.mass.size(); ++a) {
    add_scaled_row(all.rows.row(a), all.weights[a / prompts], average.row(all.index[a]));
    plan[a * prompts + all.index[a]] = all.mass[a];
  }
  MergedPrompts result{std::move(average), summary_of_plan(all, std::move(plan), prompts)};
  result.summary.steps = 1;
  result.summary.converged = true;
  return result;
}

// The exact plans of all senders onto the merged prompts, each with its sender's weight.
std::vector<double> stacked_plans(const Neighbourhood& all, std::span<const MatrixView<const float>> senders,
                                  const DoubleMatrix& merged) {
  const std::size_t prompts = merged.rows();
  std::vector<double> plan(all.mass.size() * prompts);
  const std::vector<double> demand(prompts, 1.0 / static_cast<double>(prompts));
  std::size_t first = 0;
  for (std::size_t s = 0; s < senders.size(); ++s) {
    const std::size_t rows = senders[s].rows();
    DoubleMatrix costs(rows, prompts);
    squared_distances(DoubleMatrix(senders[s]), merged, costs);
    const std::vector<double> supply(rows, 1.0 / static_cast<double>(rows));
    for (const auto& entry :
         rows == prompts ? optimal_matching(costs) : optimal_plan(costs, supply, demand)) {
      plan[(first + entry.from) * prompts + entry.to] = all.weights[s] * entry.mass;
    }
    first += rows;
  }
  return plan;
}

MergedPrompts barycenter_merge(const Neighbourhood& all, const MergeInput& input, std::size_t prompts,
                               const MergeOptions& options) {
  std::vector<Measure> measures;
  for (const auto& sender : input.senders) measures.push_back({sender});
  BarycenterOptions how{.seed = options.seed};
  std::vector<float> drawn;
  if (options.init == MergeInit::previous) how.start = input.previous;
  if (options.init == MergeInit::kmeans_plus_plus) {
    for (const std::size_t row : choose_start(all, prompts, options)) {
      for (const double value : all.rows.row(row)) drawn.push_back(static_cast<float>(value));
    }
    how.start = {drawn.data(), prompts, all.rows.cols()};
  }
  ThreadPool pool(1);
  auto found = free_support_barycenter(measures, all.weights, prompts, how, pool);
  auto plan = stacked_plans(all, input.senders, found.points);
  MergedPrompts result{std::move(found.points), summary_of_plan(all, std::move(plan), prompts)};
  result.summary.steps = found.summary.passes;
  result.summary.converged = found.summary.converged;
  result.summary.objective = {found.summary.objective};
  return result;
}

}  // namespace

void MergeOptions::validate() const {
  check_range(epsilon, false, "epsilon");
  check_range(epsilon_init, true, "epsilon_init");
  check_range(lambda, true, "lambda");
  check_range(sigma2, false, "sigma2");
  if (steps == 0)
    throw Error(ErrorCode::invalid_argument, "steps is 0; a merge takes at least one").at("steps");
  if (!(tolerance >= 0) || !std::isfinite(tolerance)) {
    throw Error(ErrorCode::invalid_argument, fmt::format("tolerance is {}; it must be 0 or more", tolerance))
        .at("tolerance");
  }
}

MergeSummary merge(const MergeInput& input, const MergeOptions& options, MatrixView<float> merged) {
  options.validate();
  check_sizes(input, merged, options);
  const bool from_previous = options.kind == MergeKind::ot && options.init == MergeInit::previous;
  const Neighbourhood all = gather(input, from_previous ? input.previous : MatrixView<const float>());
  auto result = [&] {
    switch (options.kind) {
      case MergeKind::average: return average_merge(all, input.senders, merged.rows());
      case MergeKind::barycenter: return barycenter_merge(all, input, merged.rows(), options);
      case MergeKind::ot: break;
    }
    return ot_merge(all, merged.rows(), options);
  }();
  result.prompts.copy_to(merged);
  return std::move(result.summary);
}

}  // namespace dfrost

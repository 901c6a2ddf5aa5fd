// Merges, distances, barycenters and consensus error: dfrost::ot for Python.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <cmath>

#include "arrays.h"
#include "dfrost/error.h"
#include "dfrost/measure.h"
#include "dfrost/merge.h"
#include "dfrost/wasserstein.h"
#include "merge/merge_kinds.h"
#include "merge/merge_words.h"
#include "words.h"

namespace dfrost::python {
namespace {

py::array_t<double> doubles(const std::vector<double>& values, std::vector<py::ssize_t> shape = {}) {
  if (shape.empty()) shape = {length(values.size())};
  return owned(values, std::move(shape));
}

// Everything but the arrays, which come first.
MergeOptions merge_options(const py::kwargs& words) {
  MergeOptions options;
  const auto word = [&](const char* name) { return text_of(words[name], name); };
  const auto number = [&](const char* name) { return number_of(words[name], name); };
  options.kind = parse_choice(kMergeKinds, "kind of merge", word("kind"));
  options.init = parse_choice(kMergeInits, "initialisation", word("init"));
  options.dead = parse_choice(kDeadPrompts, "rule for dead prompts", word("dead"));
  options.shrink = parse_choice(kShrinks, "shrink", word("shrink"));
  options.form = parse_choice(kMergeForms, "form", word("form"));
  options.epsilon = number("epsilon");
  options.lambda = number("lam");
  options.sigma2 = number("sigma2");
  options.steps = whole_of(words["steps"], "steps");
  options.epsilon_init = number("epsilon_init");
  options.tolerance = number("tolerance");
  options.early_stop = flag_of(words["early_stop"], "early_stop");
  options.seed = whole_of(words["seed"], "seed");
  options.validate();
  return options;
}

py::tuple merge_sets(py::handle sets, py::handle prompts, py::handle weights, py::handle previous,
                     const py::kwargs& words) {
  const RowsList senders = rows_list(sets, "sets");
  const auto given = weights_of(weights, "weights");
  const MergeOptions options = words.empty() ? MergeOptions{} : merge_options(words);
  Rows before;
  if (!previous.is_none()) before = rows_of(previous, "previous");
  if (options.init == MergeInit::previous && previous.is_none())
    throw Error(ErrorCode::invalid_argument, "init is 'previous', and there is no previous set",
                "pass previous=, the prompts to start from");
  const std::size_t n = prompts.is_none() ? senders.views.front().rows() : whole_of(prompts, "prompts");
  const std::size_t width = senders.views.front().cols();
  py::array_t<float> merged({length(n), length(width)});
  const MatrixView<float> out(merged.mutable_data(), n, width);
  MergeSummary summary;
  {
    const py::gil_scoped_release free;
    summary = merge({senders.views, given, before.view}, options, out);
  }
  return py::make_tuple(std::move(merged), std::move(summary));
}

py::tuple wasserstein2(py::handle a, py::handle b, py::handle weights_a, py::handle weights_b) {
  const Rows from = rows_of(a, "a"), to = rows_of(b, "b");
  const auto mass_a = weights_of(weights_a, "weights_a"), mass_b = weights_of(weights_b, "weights_b");
  Transport found;
  {
    const py::gil_scoped_release free;
    found = wasserstein2_squared({from.view, mass_a}, {to.view, mass_b});
  }
  py::array_t<double> plan({length(from.view.rows()), length(to.view.rows())});
  std::fill_n(plan.mutable_data(), plan.size(), 0.0);
  for (const auto& entry : found.plan) plan.mutable_at(length(entry.from), length(entry.to)) = entry.mass;
  return py::make_tuple(std::sqrt(found.w2_squared), std::move(plan));
}

py::tuple find_barycenter(py::handle sets, py::handle points, py::handle weights, py::handle starts,
                          py::handle seed, py::handle threads) {
  const RowsList list = rows_list(sets, "sets");
  const BarycenterOptions options{.starts = whole_of(starts, "starts"),
                                  .seed = whole_of(seed, "seed"),
                                  .threads = whole_of(threads, "threads")};
  const auto given = weights_of(weights, "weights");
  std::vector<Measure> measures;
  for (const auto& view : list.views) measures.push_back({view});
  const std::size_t n = points.is_none() ? list.views.front().rows() : whole_of(points, "points");
  const std::size_t width = list.views.front().cols();
  py::array_t<float> found({length(n), length(width)});
  const MatrixView<float> out(found.mutable_data(), n, width);
  BarycenterSummary summary;
  {
    const py::gil_scoped_release free;
    summary = barycenter(measures, given, options, out);
  }
  return py::make_tuple(std::move(found), summary.objective);
}

Consensus measure_consensus(py::handle sets, py::handle prompts, py::handle seed, py::handle threads) {
  const RowsList list = rows_list(sets, "sets");
  const ConsensusOptions options{.prompts = whole_of(prompts, "prompts"),
                                 .seed = whole_of(seed, "seed"),
                                 .threads = whole_of(threads, "threads")};
  const py::gil_scoped_release free;
  return consensus_error(list.views, options);
}

// What pickle keeps: every field, in this order.
py::tuple merge_state(const MergeSummary& s) {
  return py::make_tuple(s.steps, s.converged, static_cast<int>(s.form), s.initial_objective, s.objective,
                        s.delta, s.column_mass, s.dead, s.died, s.reseeds, s.off_index_mass, s.theorem.bound,
                        s.theorem.smallest_delta, s.theorem.held, s.plan, s.softened_mass);
}

MergeSummary merge_of_state(const py::tuple& state) {
  using Doubles = std::vector<double>;
  using Indices = std::vector<std::size_t>;
  MergeSummary s;
  s.steps = state[0].cast<std::size_t>();
  s.converged = state[1].cast<bool>();
  s.form = static_cast<MergeForm>(state[2].cast<int>());
  s.initial_objective = state[3].cast<double>();
  s.objective = state[4].cast<Doubles>();
  s.delta = state[5].cast<Doubles>();
  s.column_mass = state[6].cast<Doubles>();
  s.dead = state[7].cast<Indices>();
  s.died = state[8].cast<Indices>();
  s.reseeds = state[9].cast<std::size_t>();
  s.off_index_mass = state[10].cast<double>();
  s.theorem = {state[11].cast<double>(), state[12].cast<double>(), state[13].cast<bool>()};
  s.plan = state[14].cast<Doubles>();
  s.softened_mass = state[15].cast<double>();
  return s;
}

py::tuple consensus_state(const Consensus& c) {
  return py::make_tuple(c.error, c.total, c.squared_distances, c.barycenter, c.prompts, c.converged);
}

Consensus consensus_of_state(const py::tuple& state) {
  return {state[0].cast<double>(),
          state[1].cast<double>(),
          state[2].cast<std::vector<double>>(),
          state[3].cast<std::vector<float>>(),
          state[4].cast<std::size_t>(),
          state[5].cast<bool>()};
}

std::string merge_repr(const MergeSummary& s) {
  return fmt::format(
      "MergeSummary(objective {:.6g} after {} steps, {}converged, off_index_mass {:.4g}, {} dead)",
      s.objective.empty() ? s.initial_objective : s.objective.back(), s.steps, s.converged ? "" : "not ",
      s.off_index_mass, s.dead.size());
}

std::string consensus_repr(const Consensus& c) {
  return fmt::format("Consensus(error {:.6g}, total {:.6g}, of {} sets)", c.error, c.total,
                     c.squared_distances.size());
}

constexpr const char* kMergeSummary =
    "How a merge went.\n\n"
    "`plan` [all rows, prompts]: which share of all mass went from a row of a set to a merged prompt; sums "
    "to one\n"
    "`column_mass` [prompts]: how much each merged prompt stands for\n"
    "`off_index_mass`: the share that left its own index; 0: an average by index would have done the same\n"
    "`objective`, `delta` [steps]: what is minimised, and how far each step moved; `initial_objective`\n"
    "`steps`, `converged`, `form`: taken; whether the last moved less than `tolerance`; how it was computed\n"
    "`dead`, `died`: merged prompts that end without mass, and that were so in some step; `reseeds`\n"
    "`theorem_bound`, `theorem_smallest_delta`, `theorem_held`: Theorem 1 of the paper";

constexpr const char* kConsensus =
    "How far clients are from agreeing.\n\n"
    "`error`, `total`: mean and sum of the squared distances W2^2 to the barycenter\n"
    "`squared_distances` [sets]: each of them; `barycenter` [prompts, d]: the set in the middle\n"
    "`converged`: whether the search for it came to rest";

void add_summary(py::module_& module) {
  using S = MergeSummary;
  py::class_<S>(module, "MergeSummary", kMergeSummary)
      .def("__repr__", &merge_repr)
      .def(py::pickle(&merge_state, &merge_of_state))
      .def_readonly("steps", &S::steps)
      .def_readonly("converged", &S::converged)
      .def_property_readonly("form", [](const S& s) { return std::string(word_of(kMergeForms, s.form)); })
      .def_readonly("initial_objective", &S::initial_objective)
      .def_property_readonly("objective", [](const S& s) { return doubles(s.objective); })
      .def_property_readonly("delta", [](const S& s) { return doubles(s.delta); })
      .def_property_readonly("column_mass", [](const S& s) { return doubles(s.column_mass); })
      .def_property_readonly("plan",
                             [](const S& s) {
                               const std::size_t n = s.column_mass.size();
                               return doubles(s.plan, {length(s.plan.size() / n), length(n)});
                             })
      .def_readonly("dead", &S::dead)
      .def_readonly("died", &S::died)
      .def_readonly("reseeds", &S::reseeds)
      .def_readonly("off_index_mass", &S::off_index_mass)
      .def_property_readonly("theorem_bound", [](const S& s) { return s.theorem.bound; })
      .def_property_readonly("theorem_smallest_delta", [](const S& s) { return s.theorem.smallest_delta; })
      .def_property_readonly("theorem_held", [](const S& s) { return s.theorem.held; });
}

}  // namespace

void add_transport(py::module_& module) {
  add_summary(module);
  py::class_<Consensus>(module, "Consensus", kConsensus)
      .def("__repr__", &consensus_repr)
      .def(py::pickle(&consensus_state, &consensus_of_state))
      .def_readonly("error", &Consensus::error)
      .def_readonly("total", &Consensus::total)
      .def_readonly("converged", &Consensus::converged)
      .def_property_readonly("squared_distances",
                             [](const Consensus& c) { return doubles(c.squared_distances); })
      .def_property_readonly("barycenter", [](const Consensus& c) {
        const std::size_t width = c.prompts == 0 ? 0 : c.barycenter.size() / c.prompts;
        return owned(c.barycenter, {length(c.prompts), length(width)});
      });
  module.def("merge", &merge_sets);
  module.def("wasserstein2", &wasserstein2);
  module.def("barycenter", &find_barycenter);
  module.def("consensus_error", &measure_consensus);
}

}  // namespace dfrost::python

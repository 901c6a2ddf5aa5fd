// Merges, distances, barycenters and consensus error: dfrost::ot for Python.
#include <cmath>

#include "arrays.h"
#include "dfrost/measure.h"
#include "dfrost/merge.h"
#include "dfrost/wasserstein.h"
#include "merge/merge_kinds.h"
#include "merge/merge_words.h"

namespace dfrost::python {
namespace {

py::array_t<double> doubles(const std::vector<double>& values, std::vector<py::ssize_t> shape = {}) {
  if (shape.empty()) shape = {length(values.size())};
  return owned(values, std::move(shape));
}

// Everything but the arrays, which come first.
MergeOptions merge_options(const py::kwargs& words) {
  MergeOptions options;
  const auto word = [&](const char* name) { return words[name].cast<std::string>(); };
  options.kind = parse_choice(kMergeKinds, "kind of merge", word("kind"));
  options.init = parse_choice(kMergeInits, "initialisation", word("init"));
  options.dead = parse_choice(kDeadPrompts, "rule for dead prompts", word("dead"));
  options.shrink = parse_choice(kShrinks, "shrink", word("shrink"));
  options.form = parse_choice(kMergeForms, "form", word("form"));
  options.epsilon = words["epsilon"].cast<double>();
  options.lambda = words["lam"].cast<double>();
  options.sigma2 = words["sigma2"].cast<double>();
  options.steps = words["steps"].cast<std::size_t>();
  options.epsilon_init = words["epsilon_init"].cast<double>();
  options.tolerance = words["tolerance"].cast<double>();
  options.early_stop = words["early_stop"].cast<bool>();
  options.seed = words["seed"].cast<std::uint64_t>();
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
  const std::size_t n = prompts.is_none() ? senders.views.front().rows() : prompts.cast<std::size_t>();
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

py::tuple find_barycenter(py::handle sets, py::handle points, py::handle weights, std::size_t starts,
                          std::uint64_t seed, std::size_t threads) {
  const RowsList list = rows_list(sets, "sets");
  const auto given = weights_of(weights, "weights");
  std::vector<Measure> measures;
  for (const auto& view : list.views) measures.push_back({view});
  const std::size_t n = points.is_none() ? list.views.front().rows() : points.cast<std::size_t>();
  const std::size_t width = list.views.front().cols();
  py::array_t<float> found({length(n), length(width)});
  const MatrixView<float> out(found.mutable_data(), n, width);
  BarycenterSummary summary;
  {
    const py::gil_scoped_release free;
    summary = barycenter(measures, given, {.starts = starts, .seed = seed, .threads = threads}, out);
  }
  return py::make_tuple(std::move(found), summary.objective);
}

Consensus measure_consensus(py::handle sets, std::size_t prompts, std::uint64_t seed, std::size_t threads) {
  const RowsList list = rows_list(sets, "sets");
  const py::gil_scoped_release free;
  return consensus_error(list.views, {.prompts = prompts, .seed = seed, .threads = threads});
}

void add_summary(py::module_& module) {
  using S = MergeSummary;
  py::class_<S>(module, "MergeSummary")
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
  py::class_<Consensus>(module, "Consensus")
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

#include "study/study_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/version.h"
#include "dfrost/error.h"
#include "records/run_folder.h"
#include "study/kept_results.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr int kResultsSchema = 1;
constexpr std::size_t kLargestResults = std::size_t{64} << 20;

void read_figures(const LoadedRun& run, const WantedFigures& wanted, CellResult& cell) {
  for (const auto& name : wanted.last) {
    auto value = run.summary ? run.summary->figure(name) : std::nullopt;
    // What the summary leaves out is that of the last round that has it.
    for (auto round = run.rounds.rbegin(); !value && round != run.rounds.rend(); ++round)
      value = round->figure(name);
    if (value && std::isfinite(*value)) cell.figures[name] = *value;
  }
  for (const auto& name : wanted.curves) {
    for (const auto& round : run.rounds) {
      const auto value = round.figure(name);
      if (value && std::isfinite(*value)) cell.curves[name].emplace_back(round.round, *value);
    }
  }
  if (run.summary) cell.seconds = run.summary->figure("seconds.total").value_or(0);
}

// Empty where an old run does not say.
std::string precision_of(const fs::path& run) {
  const fs::path file = run / "about.json";
  if (!fs::exists(file)) return {};
  const auto about = parse_own_json(read_text_file(file, kLargestResults));
  const nlohmann::ordered_json::json_pointer place("/machine/precision");
  return about.contains(place) && about[place].is_string() ? about[place].get<std::string>() : "";
}

// The same of what was kept, which may have been kept for another study.
void take_figures(const CellResult& known, const WantedFigures& wanted, CellResult& cell) {
  for (const auto& [name, value] : known.figures) {
    if (wanted.last.contains(name)) cell.figures[name] = value;
  }
  for (const auto& [name, curve] : known.curves) {
    if (wanted.curves.contains(name)) cell.curves[name] = curve;
  }
  cell.seconds = known.seconds;
  cell.precision = known.precision;
}

nlohmann::ordered_json cell_json(const Study& study, const CellResult& cell) {
  nlohmann::ordered_json json;
  auto& values = json["values"] = nlohmann::ordered_json::object();
  for (std::size_t axis = 0; axis < cell.values.size(); ++axis)
    values[study.axes[axis].name] = study.axes[axis].values[cell.values[axis]].name;
  json["seed"] = cell.seed;
  json["run"] = cell.folder;
  json["done"] = cell.done;
  if (!cell.failure.empty()) json["failure"] = cell.failure;
  if (cell.network) json["network"] = to_json(*cell.network);
  if (!cell.done) return json;
  json["seconds"] = cell.seconds;
  if (!cell.precision.empty()) json["precision"] = cell.precision;
  json["figures"] = cell.figures;
  if (!cell.curves.empty()) json["curves"] = cell.curves;
  return json;
}

CellResult cell_from_json(const Study& study, const nlohmann::ordered_json& json) {
  CellResult cell;
  const auto& values = json.at("values");
  for (const auto& axis : study.axes) {
    const auto value = axis.find(values.at(axis.name).get<std::string>());
    if (!value) throw Error(ErrorCode::data_loss, fmt::format("axis '{}' has no such value", axis.name));
    cell.values.push_back(*value);
  }
  cell.seed = json.at("seed").get<Seed>();
  cell.folder = json.at("run").get<std::string>();
  cell.done = json.at("done").get<bool>();
  cell.failure = json.value("failure", "");
  cell.seconds = json.value("seconds", 0.0);
  cell.precision = json.value("precision", "");
  if (json.contains("network")) cell.network = network_from_json(json["network"]);
  if (json.contains("figures")) cell.figures = json["figures"].get<decltype(cell.figures)>();
  if (json.contains("curves")) cell.curves = json["curves"].get<decltype(cell.curves)>();
  return cell;
}

}  // namespace

WantedFigures wanted_by(const Study& study) {
  WantedFigures wanted;
  wanted.last = {"evaluation.accuracy_masked.mean", "evaluation.accuracy_unmasked.mean"};
  for (const auto& table : study.tables) wanted.last.insert(table.figures.begin(), table.figures.end());
  for (const auto& claim : study.claims) wanted.last.insert(claim.figure);
  for (const auto& target : study.targets) wanted.curves.insert(target.figure);
  for (const auto& figure : study.figures) {
    wanted.last.insert(figure.y);
    if (figure.x == "round")
      wanted.curves.insert(figure.y);
    else if (!study.find_axis(figure.x))
      wanted.last.insert(figure.x);
  }
  return wanted;
}

const CellResult* StudyResults::find(std::span<const std::size_t> values, Seed seed) const {
  const auto found = std::ranges::find_if(cells, [&](const auto& cell) {
    return cell.done && cell.seed == seed && std::ranges::equal(cell.values, values);
  });
  return found == cells.end() ? nullptr : &*found;
}

double StudyResults::seconds() const {
  std::set<std::string> seen;
  double sum = 0;
  for (const auto& cell : cells) {
    if (cell.done && seen.insert(cell.folder).second) sum += cell.seconds;
  }
  return sum;
}

std::size_t StudyResults::runs() const {
  std::set<std::string> seen;
  for (const auto& cell : cells) {
    if (cell.done) seen.insert(cell.folder);
  }
  return seen.size();
}

std::set<std::string> StudyResults::precisions() const {
  std::set<std::string> all;
  for (const auto& cell : cells) {
    if (!cell.precision.empty()) all.insert(cell.precision);
  }
  return all;
}

StudyResults collect_results(const Study& study, const StudyPlan& plan, const fs::path& runs,
                             const KeptResults& kept, std::span<const RunFailure> failures,
                             std::string command) {
  StudyResults results{
      study, plan.scale, plan.scale_words, plan.seeds, std::move(command), {}, std::string(version())};
  const auto wanted = wanted_by(study);
  const bool draws_networks = std::ranges::any_of(study.tables, &StudyTable::networks);
  std::vector<CellResult> of_run(plan.runs.size());
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    auto& cell = of_run[i];
    cell.folder = plan.runs[i].folder;
    if (draws_networks) cell.network = network_of(plan.runs[i].config);
    if (const auto failed = std::ranges::find(failures, cell.folder, &RunFailure::folder);
        failed != failures.end())
      cell.failure = failed->what;
    if (state_of(plan.runs[i], runs) == RunState::done) {
      read_figures(load_run(runs / cell.folder), wanted, cell);
      cell.precision = precision_of(runs / cell.folder);
    } else if (const auto* known = kept.find(cell.folder, study)) {
      take_figures(*known, wanted, cell);
    } else {
      continue;
    }
    cell.done = true;
  }
  for (const auto& planned : plan.cells) {
    CellResult cell = of_run[planned.run];
    cell.values = planned.values;
    cell.seed = planned.seed;
    results.cells.push_back(std::move(cell));
  }
  return results;
}

nlohmann::ordered_json to_json(const StudyResults& results) {
  nlohmann::ordered_json json = {{"schema", kResultsSchema},           {"name", results.study.name},
                                 {"version", results.version},         {"scale", results.scale},
                                 {"scale_words", results.scale_words}, {"seeds", results.seeds},
                                 {"command", results.command},         {"study", results.study.text}};
  auto& cells = json["cells"] = nlohmann::ordered_json::array();
  for (const auto& cell : results.cells) cells.push_back(cell_json(results.study, cell));
  return json;
}

StudyResults results_from_json(const nlohmann::ordered_json& json, const std::string& place) {
  try {
    if (json.is_discarded() || json.at("schema").get<int>() > kResultsSchema)
      throw Error(ErrorCode::data_loss, "these are no results of a study, or of a newer dfrost");
    const auto name = json.at("name").get<std::string>();
    StudyResults results{parse_study(json.at("study").get<std::string>(), name, place, "."),
                         json.at("scale").get<std::string>(),
                         json.at("scale_words").get<std::string>(),
                         json.at("seeds").get<std::vector<Seed>>(),
                         json.at("command").get<std::string>(),
                         {},
                         json.value("version", "")};
    for (const auto& cell : json.at("cells")) results.cells.push_back(cell_from_json(results.study, cell));
    return results;
  } catch (Error& error) {
    throw error.at(place);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::data_loss, fmt::format("these are no results of a study: {}", error.what()),
                "give the results.json that 'dfrost study' wrote")
        .at(place);
  }
}

StudyResults read_results(const fs::path& file) {
  return results_from_json(parse_own_json(read_text_file(file, kLargestResults)), file.string());
}

}  // namespace dfrost

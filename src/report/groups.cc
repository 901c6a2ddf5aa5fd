#include "report/groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "config/methods.h"

#include "records/figure_table.h"

namespace dfrost {
namespace {

// `path`: "final.accuracy_masked.mean"; no name in it has a slash.
std::optional<double> number_at(const Json& json, std::string path) {
  std::ranges::replace(path, '.', '/');
  const Json::json_pointer pointer("/" + path);
  if (!json.is_structured() || !json.contains(pointer) || !json[pointer].is_number()) return std::nullopt;
  return json[pointer].get<double>();
}

std::optional<Settings> settings_of(const RunRecords& run) {
  return run.config ? parse_settings(*run.config) : std::nullopt;
}

std::optional<std::uint64_t> seed_of(const RunRecords& run) {
  for (const auto* json : {&run.summary, &run.about}) {
    if (json->contains("seed") && (*json)["seed"].is_number_unsigned()) return (*json)["seed"];
  }
  return std::nullopt;
}

// As the paper writes the methods; those that this version does not know go by their own name.
std::string title_of(const std::string& method) {
  for (const auto& preset : method_presets())
    if (preset.name == method) return preset.title;
  return method;
}

// A group in the making.
// NOLINTNEXTLINE(bugprone-exception-escape): nothing is allocated when JSON is moved
struct Draft {
  std::optional<Settings> experiment;
  Json data;                     // what the domains hold: folders of one name may hold different pictures
  std::optional<double> rounds;  // done
  std::string method;
  std::vector<std::size_t> runs;
  std::set<std::uint64_t> seeds;

  bool is_same_experiment(const Draft& other) const {
    return experiment && experiment == other.experiment && data == other.data && rounds == other.rounds;
  }
};

Json data_of(const Json& about) {
  Json data = Json::array();
  if (!about.contains("domains") || !about["domains"].is_array()) return data;
  for (const auto& domain : about["domains"]) {
    Json content;
    for (const char* key : {"classes", "train", "test"}) {
      content.push_back(domain.is_object() ? domain.value(key, Json()) : Json());
    }
    data.push_back(std::move(content));
  }
  return data;
}

std::vector<Draft> draft_groups(std::span<const RunRecords> runs) {
  std::vector<Draft> drafts;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Draft draft;
    if (auto settings = settings_of(runs[i])) draft.experiment = experiment_of(*settings);
    draft.data = data_of(runs[i].about);
    draft.rounds = number_at(runs[i].summary, "rounds");
    for (const auto* json : {&runs[i].about, &runs[i].summary}) {
      if (json->contains("method") && (*json)["method"].is_string()) draft.method = (*json)["method"];
    }
    const auto seed = seed_of(runs[i]);
    // The same seed again tells nothing about the spread over seeds.
    const auto match = std::ranges::find_if(drafts, [&](const Draft& other) {
      return draft.is_same_experiment(other) && !(seed && other.seeds.contains(*seed));
    });
    auto& group = match == drafts.end() ? drafts.emplace_back(std::move(draft)) : *match;
    group.runs.push_back(i);
    if (seed) group.seeds.insert(*seed);
  }
  return drafts;
}

// The keys whose values differ among some groups.
std::set<std::string> differing_keys(std::span<const Draft* const> drafts) {
  std::set<std::string> keys;
  for (const auto* draft : drafts) {
    if (!draft->experiment || !drafts.front()->experiment) continue;
    for (const auto& [key, value] : *draft->experiment) {
      const auto& first = *drafts.front()->experiment;
      const auto found = first.find(key);
      if (found == first.end() || found->second != value) keys.insert(key);
    }
  }
  return keys;
}

std::string label_of(const Draft& draft, std::span<const Draft> all, std::span<const RunRecords> runs) {
  std::string label = draft.method.empty() ? runs[draft.runs.front()].name : title_of(draft.method);
  std::vector<const Draft*> same;
  for (const auto& other : all) {
    if (other.method == draft.method) same.push_back(&other);
  }
  if (same.size() == 1) return label;
  constexpr std::size_t kMostKeys = 3;
  const auto keys = differing_keys(same);
  if (!draft.experiment || keys.size() > kMostKeys) return label;
  for (const auto& key : keys) {
    const auto found = draft.experiment->find(key);
    if (found == draft.experiment->end()) continue;
    const Json& value = found->second;
    label += fmt::format(", {} {}", key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return label;
}

// What the settings do not tell apart goes by the name of its first run.
std::vector<std::string> labels_of(std::span<const Draft> drafts, std::span<const RunRecords> runs) {
  std::vector<std::string> labels;
  for (const auto& draft : drafts) labels.push_back(label_of(draft, drafts, runs));
  std::vector<std::string> apart = labels;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (std::ranges::count(labels, labels[i]) > 1) {
      apart[i] += fmt::format(" ({})", runs[drafts[i].runs.front()].name);
    }
  }
  return apart;
}

}  // namespace

std::optional<MeanStd> mean_std(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const double count = static_cast<double>(values.size());
  MeanStd result;
  for (const double value : values) result.mean += value / count;
  if (values.size() == 1) return MeanStd{values.front(), 0};
  for (const double value : values) result.std += (value - result.mean) * (value - result.mean);
  result.std = std::sqrt(result.std / (count - 1));
  return result;
}

std::optional<PaperFigure> paper_figure(const RunRecords& run) {
  const auto settings = settings_of(run);
  return settings ? paper_figure(*settings, run.about) : std::nullopt;
}

std::vector<Group> group_runs(std::span<const RunRecords> runs) {
  const auto drafts = draft_groups(runs);
  const auto labels = labels_of(drafts, runs);
  std::vector<Group> groups;
  for (const auto& draft : drafts) {
    Group group;
    group.label = labels[groups.size()];
    group.runs = draft.runs;
    group.paper = paper_figure(runs[draft.runs.front()]);
    for (const std::size_t run : draft.runs) {
      if (const auto seed = seed_of(runs[run])) group.seeds.push_back(*seed);
    }
    for (const auto* figure : compared_figures()) {
      std::vector<double> values;
      for (const std::size_t run : draft.runs) {
        if (const auto value = number_at(runs[run].summary, summary_path(*figure))) values.push_back(*value);
      }
      group.figures.push_back(mean_std(values));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

Json to_json(const std::optional<PaperFigure>& figure) {
  if (!figure) return {};
  return {{"setting", figure->setting}, {"accuracy", figure->accuracy}};
}

Json to_json(const Group& group) {
  Json json = {{"label", group.label}, {"runs", group.runs}, {"seeds", group.seeds}};
  const auto compared = compared_figures();
  for (std::size_t i = 0; i < compared.size(); ++i) {
    const auto& figure = group.figures[i];
    json[std::string(compared[i]->column.name)] =
        figure ? Json{{"mean", figure->mean}, {"std", figure->std}} : Json();
  }
  json["paper"] = to_json(group.paper);
  return json;
}

}  // namespace dfrost

#include "study/study_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/content_hash.h"
#include "base/file.h"
#include "config/key.h"
#include "config/presets.h"
#include "config/toml_file.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCombinations = 100'000;

// The experiment that everything else is laid over.
struct BaseText {
  std::string text, place;
  fs::path folder;
};

BaseText base_of(const Study& study) {
  if (!study.base_config.empty())
    return {read_text_file(study.base_config, 1u << 20), study.base_config.string(),
            study.base_config.parent_path()};
  try {
    return {to_toml(experiment_preset(study.base_preset).config, TomlStyle::own),
            fmt::format("preset {}", study.base_preset), study.folder};
  } catch (Error& error) {
    throw error.at(study.place + ", [base]");
  }
}

std::vector<std::vector<std::size_t>> combinations_of(const Study& study) {
  std::vector<std::vector<std::size_t>> all = {{}};
  for (const auto& axis : study.axes) {
    std::vector<std::vector<std::size_t>> longer;
    if (all.size() * axis.values.size() > kMostCombinations)
      throw Error(ErrorCode::out_of_range,
                  fmt::format("a study of more than {} combinations", kMostCombinations), "leave out an axis")
          .at(study.place);
    for (const auto& values : all) {
      for (std::size_t value = 0; value < axis.values.size(); ++value) {
        longer.push_back(values);
        longer.back().push_back(value);
      }
    }
    all = std::move(longer);
  }
  const auto is_among = [&](const std::vector<StudySelection>& selections, const auto& values) {
    return std::ranges::any_of(selections, [&](const auto& s) { return selects(study, s, values); });
  };
  std::erase_if(all, [&](const auto& values) {
    return is_among(study.left_out, values) && !is_among(study.added, values);
  });
  return all;
}

void lay_over(const StudyKeys& keys, StudyKeys& layers) {
  layers.insert(layers.end(), keys.begin(), keys.end());
}

StudyKeys layers_for(const Study& study, const StudyScale* scale, std::span<const std::size_t> values) {
  StudyKeys layers = study.base_keys;
  if (scale != nullptr) lay_over(scale->keys, layers);
  for (std::size_t axis = 0; axis < values.size(); ++axis) {
    const auto& value = study.axes[axis].values[values[axis]];
    lay_over(value.keys, layers);
    if (scale == nullptr) continue;
    if (const auto at = value.at.find(scale->name); at != value.at.end()) lay_over(at->second, layers);
  }
  return layers;
}

// By everything that has a say in a run's figures, and not by where data lie or how many threads there are. A
// key that is as a default-made experiment has it does not count, so that runs keep their names, and results
// of them their use, when dfrost learns a new key.
std::string folder_of(RunConfig config) {
  static const RunConfig usual;
  config.run.name = usual.run.name;
  config.run.threads = usual.run.threads;
  config.run.checkpoint_every = usual.run.checkpoint_every;
  config.data.root = usual.data.root;
  config.data.cache_mb = usual.data.cache_mb;
  config.diagnostics.merge_views = usual.diagnostics.merge_views;
  ContentHash hash;
  for (const auto& key : config_keys()) {
    if (same_value(key, config, usual)) continue;
    const auto line = fmt::format("{}={}\n", key.full_name(), toml_value(key, config));
    hash.add(std::span(line));
  }
  return fmt::format("{}-seed{}-{}", config.method.name, config.run.seed, hash.hex().substr(0, 12));
}

}  // namespace

bool selects(const Study& study, const StudySelection& selection, std::span<const std::size_t> values) {
  return std::ranges::all_of(selection, [&](const auto& chosen) {
    const auto axis = study.find_axis(chosen.first);
    return axis && std::ranges::find(chosen.second, study.axes[*axis].values[values[*axis]].name) !=
                       chosen.second.end();
  });
}

std::string describe(const Study& study, std::span<const std::size_t> values) {
  std::string text;
  for (std::size_t axis = 0; axis < values.size(); ++axis) {
    if (study.axes[axis].values.size() == 1) continue;
    if (!text.empty()) text += ", ";
    text += study.axes[axis].values[values[axis]].label;
  }
  return text.empty() ? study.title : text;
}

std::vector<std::string> run_labels(const Study& study, const StudyPlan& plan) {
  std::vector<std::string> labels(plan.runs.size());
  for (const auto& cell : plan.cells) {
    if (labels[cell.run].empty())
      labels[cell.run] = fmt::format("{}, seed {}", describe(study, cell.values), cell.seed);
  }
  return labels;
}

StudyPlan plan_study(const Study& study, const StudyChoice& choice) {
  const StudyScale* scale = study.scale(choice.scale);
  StudyPlan plan;
  if (scale != nullptr) {
    plan.scale = scale->name;
    plan.scale_words = scale->words;
  }
  plan.seeds = !choice.seeds.empty()                       ? choice.seeds
               : scale != nullptr && !scale->seeds.empty() ? scale->seeds
                                                           : study.seeds;
  plan.overrides = choice.overrides;
  const auto base = base_of(study);
  const auto own = layers_of(choice.overrides);
  std::map<std::string, std::size_t> places;
  for (const auto& values : combinations_of(study)) {
    auto layers = layers_for(study, scale, values);
    lay_over(own, layers);
    for (const Seed seed : plan.seeds) {
      layers.push_back({fmt::format("run.seed={}", seed), "a seed", study.folder});
      RunConfig config = parse_layered_config(base.text, base.place, base.folder, layers);
      layers.pop_back();
      const auto folder = folder_of(config);
      const auto [place, is_new] = places.try_emplace(folder, plan.runs.size());
      if (is_new) {
        config.run.name = folder;
        plan.runs.push_back({folder, std::move(config)});
      }
      plan.cells.push_back({values, seed, place->second});
    }
  }
  if (plan.cells.empty())
    throw Error(ErrorCode::invalid_argument, "every combination is left out: the study has no runs")
        .at(study.place);
  return plan;
}

}  // namespace dfrost

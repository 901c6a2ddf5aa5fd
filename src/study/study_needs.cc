#include "study/study_needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "backbone/backbone_names.h"
#include "backbone/checkpoint.h"
#include "backbone/random_weights.h"
#include "backbone/step_benchmark.h"
#include "data/catalog.h"
#include "dfrost/error.h"
#include "records/run_folder.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr double kMeasureSeconds = 0.5;

std::unique_ptr<Backbone> backbone_to_measure(const RunConfig& config) {
  const BackboneOptions options{.precision = config.backbone.precision};
  if (const auto path = locate_backbone(config.backbone.path))
    return make_backbone(*open_checkpoint(*path, config.backbone.checkpoint_options()), options);
  return make_backbone(RandomWeights(geometry_of_model(config.backbone.path.string()), 1), options);
}

}  // namespace

std::string_view to_string(RunState state) {
  switch (state) {
    case RunState::missing: return "missing";
    case RunState::stopped: return "stopped";
    case RunState::done: return "done";
  }
  return "";
}

RunState state_of(const PlannedRun& run, const fs::path& runs) {
  const fs::path folder = runs / run.folder;
  std::error_code absent;
  if (!fs::exists(folder / "metrics.jsonl", absent)) return RunState::missing;
  // Adapters are the last that a run writes.
  if (!fs::exists(folder / "adapter" / kNetworkAdapter, absent)) return RunState::stopped;
  try {
    return read_summary(folder).rounds >= run.config.run.rounds ? RunState::done : RunState::stopped;
  } catch (const Error&) {
    return RunState::stopped;  // going on with it says what is wrong
  }
}

std::vector<std::string> missing_for(const RunConfig& config) {
  std::vector<std::string> missing;
  const auto backbone = locate_backbone(config.backbone.path);
  if (!backbone || !fs::exists(*backbone))
    missing.push_back(fmt::format("backbone {}", config.backbone.path.string()));
  const auto corpus = config.corpus();
  for (const auto& domain : corpus.domains) {
    const auto location = locate_dataset(domain, corpus.root);
    // A folder of the user's own need not have what a published set has.
    if (!location || (domain.path.empty() && !location->missing.empty()))
      missing.push_back(fmt::format("data set {}", domain.name));
  }
  return missing;
}

std::vector<std::string> missing_for(const StudyPlan& plan) {
  std::vector<std::string> all;
  for (const auto& run : plan.runs) {
    for (auto& what : missing_for(run.config)) {
      if (std::ranges::find(all, what) == all.end()) all.push_back(std::move(what));
    }
  }
  return all;
}

std::optional<double> StudyRates::rate_of(const RunConfig& config) {
  const std::string key =
      fmt::format("{} {} {}", config.backbone.path.string(), config.backbone.image_size, config.run.threads);
  if (const auto known = rates_.find(key); known != rates_.end()) return known->second;
  std::optional<double> rate;
  try {
    const auto backbone = backbone_to_measure(config);
    rate = benchmark_step(*backbone, {.batch = config.train.batch,
                                      .prompts = config.prompts.count,
                                      .threads = config.run.threads,
                                      .seconds = kMeasureSeconds})
               .images_per_second_train;
  } catch (const Error&) {
    // Neither here nor of a shape that is known.
  }
  rates_[key] = rate;
  return rate;
}

std::optional<double> StudyRates::seconds_of(const RunConfig& config) {
  const auto work = config.work();
  if (!work) return std::nullopt;
  const auto rate = rate_of(config);
  return rate && *rate > 0 ? std::optional(*work / *rate) : std::nullopt;
}

}  // namespace dfrost

#include "study/study_needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "backbone/backbone_names.h"
#include "backbone/checkpoint.h"
#include "backbone/pixels.h"
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
  return make_backbone(*random_weights(geometry_of_model(config.backbone.path.string()), 1), options);
}

// Where one of training and test pictures is here and whole, a test half is held out of it.
bool has_a_whole_split(const DatasetLocation& location) {
  const auto& missing = location.missing;
  if (location.format == "records") return missing == std::vector<std::string>{"test.bin"};
  constexpr std::size_t kNamesTell = 4;  // "trai" or "t10k"
  return location.format == "idx" && missing.size() == 2 &&
         missing.front().substr(0, kNamesTell) == missing.back().substr(0, kNamesTell);
}

// Whether a run spends its time on passes through the backbone: RunConfig::work() counts nothing else.
bool is_mostly_passes(const RunConfig& config) {
  return config.method.round != RoundKind::ntk && config.merge.pool.kind != PoolMerge::pfpt &&
         !is_pixels(config.backbone.path);
}

bool can_be_read(const DomainSpec& domain, const DatasetLocation& location) {
  // A folder of the user's own need not have what a published set has.
  return !domain.path.empty() || location.missing.empty() || has_a_whole_split(location);
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
  if (!is_pixels(config.backbone.path) && (!backbone || !fs::exists(*backbone)))
    missing.push_back(fmt::format("backbone {}", config.backbone.path.string()));
  const auto corpus = config.corpus();
  for (const auto& domain : corpus.domains) {
    const auto location = locate_dataset(domain, corpus.root);
    if (!location || !can_be_read(domain, *location))
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
  const std::string key = fmt::format("{} {} {} {} {} {}", config.backbone.path.string(),
                                      config.backbone.image_size, to_string(config.backbone.precision),
                                      config.run.threads, config.train.batch, config.prompts.count);
  if (const auto known = rates_.find(key); known != rates_.end()) return known->second;
  std::optional<double> rate;
  try {
    const auto backbone = backbone_to_measure(config);
    rate = quiet_train_rate(*backbone, {.batch = config.train.batch,
                                        .prompts = config.prompts.count,
                                        .threads = config.run.threads,
                                        .seconds = kMeasureSeconds});
  } catch (const Error&) {
    // Neither here nor of a shape that is known.
  }
  rates_[key] = rate;
  return rate;
}

std::optional<double> StudyRates::seconds_of(const RunConfig& config) {
  const auto work = config.work();
  if (!work || !is_mostly_passes(config)) return std::nullopt;
  const auto rate = rate_of(config);
  return rate && *rate > 0 ? std::optional(*work / *rate) : std::nullopt;
}

}  // namespace dfrost

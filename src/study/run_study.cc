#include "study/run_study.h"

#include <fmt/format.h>

#include "dfrost/backbone.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

// What went wrong; empty where nothing did.
std::string run_one(const PlannedRun& run, const std::filesystem::path& runs, StudyObserver& observer) {
  try {
    RunConfig config = run.config;
    config.backbone.path = find_backbone(config.backbone.path);
    const auto folder = runs / run.folder;
    // The folder's config.toml holds every key, so that it makes the run again.
    const auto command =
        fmt::format("dfrost run {} --runs {}", (folder / "config.toml").string(), runs.string());
    run_experiment(config, {.folder = folder, .resume = true, .command = command}, observer);
    return {};
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled) throw;
    return error.hint().empty() ? error.what() : fmt::format("{} ({})", error.what(), error.hint());
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

StudyOutcome run_study(const StudyPlan& plan, std::span<const std::size_t> to_do,
                       const std::filesystem::path& runs, StudyObserver& observer,
                       std::optional<std::chrono::duration<double>> time) {
  const auto start = std::chrono::steady_clock::now();
  StudyOutcome outcome;
  for (const std::size_t i : to_do) {
    if (time && std::chrono::steady_clock::now() - start >= *time) {
      ++outcome.not_begun;
      continue;
    }
    observer.on_run(i);
    const auto failure = run_one(plan.runs[i], runs, observer);
    if (!failure.empty()) outcome.failures.push_back({plan.runs[i].folder, failure});
    observer.on_run_end(i, failure);
  }
  return outcome;
}

}  // namespace dfrost

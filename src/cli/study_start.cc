#include "cli/study_start.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/study_display.h"
#include "cli/study_output.h"
#include "cli/study_ranks.h"
#include "dfrost/error.h"

namespace dfrost::cli {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> results_of(const fs::path& place) {
  if (!fs::is_directory(place)) return {place};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(place)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (files.empty())
    throw Error(ErrorCode::not_found, fmt::format("{} holds no results", place.string()),
                "give results.json, or a folder with some")
        .at(place.string());
  std::ranges::sort(files);
  return files;
}

void take_from(KeptResults& kept, const fs::path& file, const StudyPlan& plan) {
  const auto why = kept.take(file, plan);
  if (!why.empty() && speaks_for_ranks())
    tell(fmt::format("note: {} is passed over: {}\n", file.string(), why));
}

// That results are there but lack figures, and so do not spare these runs.
void tell_of_lacking_figures(const KeptResults& kept, const StudyPlan& plan,
                             const std::vector<std::size_t>& to_do) {
  const auto lacking =
      std::ranges::count_if(to_do, [&](std::size_t run) { return kept.knows(plan.runs[run].folder); });
  if (lacking > 0)
    tell(
        fmt::format("note: {} run{} known by earlier results without figures that are asked for now, and "
                    "made again\n",
                    lacking, lacking == 1 ? " is" : "s are"));
}

void tell_of_time(const StudyOutcome& outcome) {
  if (outcome.not_begun == 0) return;
  tell(fmt::format("note: the time is over, and {} run{} still to be made; the same command goes on\n",
                   outcome.not_begun, outcome.not_begun == 1 ? " is" : "s are"));
}

}  // namespace

std::optional<std::chrono::duration<double>> StudyStart::time() const {
  if (hours <= 0) return std::nullopt;
  return std::chrono::duration<double>(3600 * hours);
}

void add_start_options(CLI::App& command, StudyStart& start) {
  command
      .add_option(
          "--from", start.from,
          "Earlier results, a file or a folder of them: runs that they know are not made again. Those "
          "in the folder of tables and page are always taken up. May be given several times")
      ->type_name("RESULTS")
      ->expected(1)
      ->take_all();
  command
      .add_option("--hours", start.hours,
                  "Begin no further run after so many hours; the page says what is missing")
      ->check(CLI::PositiveNumber);
}

KeptResults take_up(const StudyStart& start, const std::vector<fs::path>& earlier, const StudyPlan& plan) {
  KeptResults kept;
  for (const auto& place : start.from) {
    for (const auto& file : results_of(place)) take_from(kept, file, plan);
  }
  for (const auto& file : earlier) {
    if (!fs::exists(file)) continue;
    try {
      take_from(kept, file, plan);
    } catch (const Error& error) {
      // It is about to be written anew.
      if (speaks_for_ranks()) tell(fmt::format("note: {} is passed over: {}\n", file.string(), error.what()));
    }
  }
  return kept;
}

void run_planned(const StudyPlan& plan, const std::vector<std::string>& labels, const KeptResults& kept,
                 const std::vector<std::size_t>& to_do, const fs::path& runs, const StudyStart& start,
                 bool quiet, const std::function<void(const StudyOutcome& outcome)>& make_page) {
  on_study_ranks([&](const StudyRanks& ranks) {
    const auto agreed = ranks.agree_on(to_do);
    if (ranks.leads()) tell_of_lacking_figures(kept, plan, agreed);
    StudyDisplay display(quiet || !ranks.leads(), labels, plan, agreed, ranks.size());
    const auto own =
        run_study(ranks.with_own_threads(plan), ranks.own_part(agreed), runs, display, start.time());
    const auto outcome = ranks.together(own);
    if (!ranks.leads()) return;
    make_page(outcome);
    tell_of_time(outcome);
    require_no_failures(outcome.failures, plan.runs.size());
  });
}

}  // namespace dfrost::cli

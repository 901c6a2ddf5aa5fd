// What a study's runs need that is not on this machine, how far they are, and how long those that are missing
// will take, from a rate measured here and now.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "study/study_plan.h"

namespace dfrost {

enum class RunState { missing, stopped, done };
std::string_view to_string(RunState state);

RunState state_of(const PlannedRun& run, const std::filesystem::path& runs);

// "the backbone 'vit-b32'", "the data set 'svhn'"; nothing where all is here.
std::vector<std::string> missing_for(const RunConfig& config);
// Of all runs, each once.
std::vector<std::string> missing_for(const StudyPlan& plan);

// Pictures a second, forward and back, by backbone and batch, as on a quiet machine; each is measured once,
// in about half a second. A backbone that is not here is measured by random weights of its shape, where that
// is known.
class StudyRates {
 public:
  // Nothing where it cannot be known, or where most of the time goes into something else than passes.
  std::optional<double> seconds_of(const RunConfig& config);

 private:
  std::optional<double> rate_of(const RunConfig& config);
  std::map<std::string, std::optional<double>> rates_;
};

}  // namespace dfrost

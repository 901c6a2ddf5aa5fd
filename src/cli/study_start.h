// What `dfrost study` and `dfrost paper run` do alike before the first run: take up results that were kept,
// and say from where; and the time that the user gives them.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "study/kept_results.h"

namespace dfrost::cli {

struct StudyStart {
  std::vector<std::string> from;  // files of results, or folders of them
  double hours = 0;               // 0: as long as it takes

  std::optional<std::chrono::duration<double>> time() const;
};

void add_start_options(CLI::App& command, StudyStart& start);

// What is known of a plan's runs by `start.from`, and by earlier results in the files that are to be written;
// those may be absent.
KeptResults take_up(const StudyStart& start, const std::vector<std::filesystem::path>& earlier,
                    const StudyPlan& plan);

// That results are there but lack figures, and so do not spare these runs.
void tell_of_lacking_figures(const KeptResults& kept, const StudyPlan& plan,
                             const std::vector<std::size_t>& to_do);

// That time was over before all was done.
void tell_of_time(const StudyOutcome& outcome);

}  // namespace dfrost::cli

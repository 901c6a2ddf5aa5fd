// What `dfrost study` and `dfrost paper run` do alike: take up results that were kept, and make what is to be
// done in the time that the user gives them.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
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

// Makes what is to be done of a plan, on all ranks of a job; `make_page` then, where this is the process that
// speaks for them.
void run_planned(const StudyPlan& plan, const std::vector<std::string>& labels, const KeptResults& kept,
                 const std::vector<std::size_t>& to_do, const std::filesystem::path& runs,
                 const StudyStart& start, bool quiet,
                 const std::function<void(const StudyOutcome& outcome)>& make_page);

}  // namespace dfrost::cli

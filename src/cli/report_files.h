// What the commands about finished runs share: reading their folders, writing the page.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "report/run_reader.h"

namespace dfrost::cli {

inline constexpr const char* kReportFile = "report.html";

struct GivenRuns {
  std::vector<std::string> paths;  // as they were given
  std::vector<RunRecords> records;
};

// Each run once, however often it is named. Throws (not_found) for a folder that holds no run; among several
// paths, such as a shell makes of runs/*, something else that is there is passed over with a note on stderr.
GivenRuns read_runs(std::span<const std::string> paths);

// What could not all be read, on stderr.
void print_problems(std::span<const RunRecords> runs);

// A name out of a file as a terminal may show it: without control characters.
std::string printable(std::string text);

void write_report(std::span<const RunRecords> runs, const std::filesystem::path& path);

}  // namespace dfrost::cli

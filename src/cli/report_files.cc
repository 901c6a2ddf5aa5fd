#include "cli/report_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/file.h"
#include "cli/command.h"
#include "dfrost/error.h"
#include "report/document.h"

namespace dfrost::cli {

GivenRuns read_runs(std::span<const std::string> paths) {
  GivenRuns runs;
  std::set<std::filesystem::path> seen;
  std::optional<Error> first_refusal;
  for (const auto& path : paths) {
    std::error_code absent;
    const auto place = std::filesystem::canonical(path, absent);
    if (!absent && !seen.insert(place).second) {
      tell(fmt::format("note: {} is given twice and counts once\n", printable(path)));
      continue;
    }
    try {
      runs.records.push_back(read_run(path));
      runs.paths.push_back(path);
    } catch (const Error& error) {
      if (absent || paths.size() == 1) throw;
      tell(fmt::format("note: {}: passed over\n", printable(error.what())));
      if (!first_refusal) first_refusal = error;
    }
  }
  if (runs.records.empty()) throw *first_refusal;
  return runs;
}

std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return text;
}

void print_problems(std::span<const RunRecords> runs) {
  for (const auto& run : runs) {
    for (const auto& problem : run.problems) {
      tell(fmt::format("note: {}: {}\n", printable(run.folder), problem));
    }
  }
}

void write_report(std::span<const RunRecords> runs, const std::filesystem::path& path) {
  write_file_atomically(path, report_page(report_document(runs)));
}

}  // namespace dfrost::cli

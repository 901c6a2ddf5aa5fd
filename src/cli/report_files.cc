#include "cli/report_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "cli/command.h"
#include "report/document.h"

namespace dfrost::cli {

std::vector<RunRecords> read_runs(std::span<const std::string> folders) {
  std::vector<RunRecords> runs;
  for (const auto& folder : folders) runs.push_back(read_run(folder));
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

#include "cli/study_output.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "dfrost/error.h"
#include "study/study_page.h"
#include "study/study_targets.h"
#include "study/study_text.h"

namespace dfrost::cli {

void write_study(std::span<const StudyResults> results, const std::string& title,
                 const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::string markdown = fmt::format("# {}\n\n", title);
  for (const auto& one : results) {
    markdown += study_markdown(one);
    const auto prefix = results.size() > 1 ? one.study.name + "-" : std::string();
    for (const auto& asked : one.study.tables) {
      const auto table = make_table(one, asked);
      write_file_atomically(folder / (prefix + table.name + ".csv"), table_csv(table));
      write_file_atomically(folder / (prefix + table.name + ".tex"), table_latex(table));
    }
    for (const auto& asked : one.study.targets) {
      const auto target = make_target(one, asked);
      write_file_atomically(folder / (prefix + target.name + ".csv"), target_csv(target));
    }
  }
  if (results.size() == 1)
    write_file_atomically(folder / kStudyResults, dump_json(to_json(results.front()), 1) + "\n");
  write_file_atomically(folder / "tables.md", markdown);
  write_file_atomically(folder / kStudyPage, study_page(results, title));
}

void require_no_failures(std::span<const RunFailure> failures, std::size_t runs) {
  if (failures.empty()) return;
  throw Error(ErrorCode::failed_precondition,
              fmt::format("{} of {} runs failed: {}", failures.size(), runs, failures.front().what),
              "put that right and give the same command: the others are kept");
}

}  // namespace dfrost::cli

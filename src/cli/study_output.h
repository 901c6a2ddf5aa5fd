// The folder that a study's results are written into: results.json, page.html, tables.md, and every table as
// CSV and LaTeX.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "study/study_results.h"

namespace dfrost::cli {

inline constexpr const char* kStudyPage = "page.html";
inline constexpr const char* kStudyResults = "results.json";

// Tables of several studies have the study's name before their own. results.json is written for one study
// only.
void write_study(std::span<const StudyResults> results, const std::string& title,
                 const std::filesystem::path& folder);

// Throws (failed_precondition) where some of `runs` runs failed: the others are kept, and the command has not
// done all.
void require_no_failures(std::span<const RunFailure> failures, std::size_t runs);

}  // namespace dfrost::cli

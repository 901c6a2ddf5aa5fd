// The page of one study or of several: one HTML file that opens from disk and asks for nothing, with every
// table, figure and claim, what was reduced and the command that makes it. It is the same to the byte for the
// same results.
#pragma once

#include <span>
#include <string>

#include "study/study_results.h"

namespace dfrost {

std::string study_page(std::span<const StudyResults> results, const std::string& title);

}  // namespace dfrost

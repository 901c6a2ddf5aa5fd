// What a merge did, for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "cli/prompt_file.h"
#include "dfrost/merge.h"

namespace dfrost::cli {

struct MergeReport {
  std::string out;
  std::span<const PromptFile> senders;
  const MergeOptions& options;
  const MergeSummary& summary;
  std::size_t prompts = 0;
  double merge_error = 0;
};

nlohmann::ordered_json to_json(const MergeReport& report);

// The summary, and for every merged prompt where its mass came from.
std::string explain(const MergeReport& report);

}  // namespace dfrost::cli

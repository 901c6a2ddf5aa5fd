// Records as JSON: a line of metrics.jsonl per round, one of merges.jsonl per merge that is kept to be looked
// at, and summary.json. docs/reference/records.md has every field. A number that is not finite becomes null,
// as JSON has no other word for it.
#pragma once

#include <nlohmann/json.hpp>

#include "config/config.h"
#include "records/record.h"

namespace dfrost {

// Raised when a field changes its meaning or goes; new fields do not count.
inline constexpr int kRecordSchema = 1;

nlohmann::ordered_json to_json(const RoundRecord& record);

// Numbers rounded to what can be seen in a drawing.
nlohmann::ordered_json to_json(const MergeView& view);

nlohmann::ordered_json to_json(const RunTotals& totals);
RunTotals totals_from_json(const nlohmann::ordered_json& json);

// `last`: to_json() of the last round; `evaluation`: that of the last round that had one, or null.
nlohmann::ordered_json summary_json(const RunConfig& config, std::size_t clients,
                                    const nlohmann::ordered_json& last, const RunTotals& totals,
                                    const nlohmann::ordered_json& evaluation = {});

}  // namespace dfrost

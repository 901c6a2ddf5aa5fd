// The table of figures for readers: as the part of docs/reference/records.md that is made from it, as the
// document that the report's page reads, and as plain text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "records/figure_table.h"

namespace dfrost {

// Two lines each: name and unit, then what it means.
std::string figures_text();

// docs/reference/records.md, between its two marks.
std::string figures_markdown();

// docs/reference/report-data.md has every field.
nlohmann::ordered_json figures_json();

}  // namespace dfrost

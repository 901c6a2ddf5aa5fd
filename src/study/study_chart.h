// A chart as SVG text that stands in an HTML page: lines over rounds or over the values of an axis with a
// band of one standard deviation over seeds, or single points. Lines differ in dashes as well as in colour;
// colours come from the page's style. Deterministic.
#pragma once

#include <string>

#include "study/study_tables.h"

namespace dfrost {

std::string chart_svg(const MadeChart& chart);

// Text that means nothing to HTML.
std::string escape_html(std::string_view text);

}  // namespace dfrost

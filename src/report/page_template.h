// The report's page without its data: one HTML file, made from web/ when dfrost is built. The data, a JSON
// document (docs/reference/report-data.md) in which no "<" is left unescaped, takes the place of the one
// kPageDataMarker. Empty in a dfrost built with -DDFROST_REPORT_PAGE=OFF.
#pragma once

#include <string_view>

namespace dfrost {

inline constexpr std::string_view kPageDataMarker = "/*dfrost-data*/";

std::string_view page_template();

}  // namespace dfrost

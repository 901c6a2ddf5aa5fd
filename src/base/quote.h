// How a name out of a file is shown in a message: in quotes, control characters escaped, shortened when long,
// because a hostile file may hold a name of many megabytes.
#pragma once

#include <string>
#include <string_view>

namespace dfrost {

std::string quote_name(std::string_view name);

// A text that others had a hand in, without what a terminal would obey: control characters escaped.
std::string escape_controls(std::string_view text);

}  // namespace dfrost

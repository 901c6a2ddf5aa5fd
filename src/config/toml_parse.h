// TOML text → tables, with its nesting bounded before the library sees it, and places in it for messages.
#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>

namespace dfrost {

// Throws (invalid_argument) at line and column. `place` names the text.
toml::table parse_toml(std::string_view text, const std::string& place);

// "five.toml, line 3, column 9 (train.batch)"
std::string locate_toml(const std::string& place, const toml::source_region& source,
                        const std::string& key = {});

}  // namespace dfrost

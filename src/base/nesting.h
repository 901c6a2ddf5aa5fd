// How deep a text from outside may nest, in any format: parsers, and whatever walks through what they made,
// call themselves once a level, and end with the stack. Counted before a parser sees the text.
#pragma once

#include <string_view>

namespace dfrost {

inline constexpr int kDeepestNesting = 64;  // lists and tables in each other; records nest five deep

enum class NestedText { json, toml };

// Whether brackets open more than kDeepestNesting levels, outside of texts and comments. In TOML each dot of
// a key opens one too: a.b.c = 1 is a table in a table.
bool nests_too_deep(std::string_view text, NestedText kind);

}  // namespace dfrost

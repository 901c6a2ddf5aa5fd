// How deep a text from outside may nest, in any format: parsers, and whatever walks through what they made,
// call themselves once a level, and end with the stack. Counted before a parser sees the text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace dfrost {

inline constexpr int kDeepestNesting = 64;  // lists and tables in each other; records nest five deep

enum class NestedText { json, toml };

// The line, from 1, on which brackets outside of texts and comments open more than kDeepestNesting levels;
// nothing where none does. In TOML each dot of a key opens one too: a.b.c = 1 is a table in a table.
std::optional<std::size_t> line_nested_too_deep(std::string_view text, NestedText kind);

}  // namespace dfrost

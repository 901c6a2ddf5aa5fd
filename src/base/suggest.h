// "Did you mean": the nearest of some known words to one that was misspelt.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dfrost {

// Single-character insertions, deletions, replacements and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest candidate, or nothing if even that one is too far to be a slip of the finger.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace dfrost

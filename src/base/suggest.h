// "Did you mean": the nearest of some known words to one that was misspelt, and the hint that asks for it.
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

// The hint of an error: "did you mean X?", X as it is to be shown.
std::string did_you_mean(std::string_view shown);
// That of the nearest candidate, in quotes; `otherwise` where none is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates,
                         std::string otherwise = {});

}  // namespace dfrost

// The words for the values of an enum, declared once in a table: printing, reading and "did you mean" follow.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/suggest.h"
#include "dfrost/error.h"

namespace dfrost {

template <typename Enum>
struct Choice {
  Enum value;
  std::string_view word;
};

template <typename Enum, std::size_t N>
std::string_view word_of(const Choice<Enum> (&choices)[N], Enum value) {
  for (const auto& choice : choices) {
    if (choice.value == value) return choice.word;
  }
  return "unknown";
}

// Throws (invalid_argument) for a word that is not in the table; `what` names the thing in the message.
template <typename Enum, std::size_t N>
Enum parse_choice(const Choice<Enum> (&choices)[N], std::string_view what, std::string_view word) {
  std::vector<std::string> words;
  for (const auto& choice : choices) {
    if (choice.word == word) return choice.value;
    words.emplace_back(choice.word);
  }
  const auto near = nearest(word, words);
  throw Error(
      ErrorCode::invalid_argument, fmt::format("unknown {} '{}'", what, word),
      near ? fmt::format("did you mean '{}'?", *near) : fmt::format("one of {}", fmt::join(words, ", ")));
}

}  // namespace dfrost

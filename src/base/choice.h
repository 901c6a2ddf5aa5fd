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

// A table may say more of each value than its word: a row is anything with `value` and `word`.
template <typename Row, std::size_t N>
const Row& row_of(const Row (&rows)[N], decltype(Row::value) value) {
  for (const auto& row : rows) {
    if (row.value == value) return row;
  }
  throw Error(ErrorCode::internal, "a value that is not in the table of its kind");
}

template <typename Row, std::size_t N>
std::string_view word_of(const Row (&rows)[N], decltype(Row::value) value) {
  for (const auto& row : rows) {
    if (row.value == value) return row.word;
  }
  return "unknown";
}

// Throws (invalid_argument) for a word that is not in the table; `what` names the thing in the message.
template <typename Row, std::size_t N>
auto parse_choice(const Row (&choices)[N], std::string_view what, std::string_view word) {
  std::vector<std::string> words;
  for (const auto& choice : choices) {
    if (choice.word == word) return choice.value;
    words.emplace_back(choice.word);
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("unknown {} '{}'", what, word),
              did_you_mean(word, words, fmt::format("one of {}", fmt::join(words, ", "))));
}

}  // namespace dfrost

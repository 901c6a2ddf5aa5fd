// ASCII letters in lower case, and all else as it is; the same in every locale.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace dfrost {

inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

}  // namespace dfrost

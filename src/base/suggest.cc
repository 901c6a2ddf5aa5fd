#include "base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace dfrost {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the optimal string alignment table are enough.
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, current);
  }
  return last[b.size()];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  const auto best = std::min_element(candidates.begin(), candidates.end(), [&](const auto& x, const auto& y) {
    return edit_distance(word, x) < edit_distance(word, y);
  });
  if (best == candidates.end()) return std::nullopt;
  const std::size_t allowed = std::max<std::size_t>(1, std::max(word.size(), best->size()) / 3);
  if (edit_distance(word, *best) > allowed) return std::nullopt;
  return *best;
}

std::string did_you_mean(std::string_view shown) { return fmt::format("did you mean {}?", shown); }

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates,
                         std::string otherwise) {
  const auto near = nearest(word, candidates);
  return near ? did_you_mean(fmt::format("'{}'", *near)) : std::move(otherwise);
}

}  // namespace dfrost

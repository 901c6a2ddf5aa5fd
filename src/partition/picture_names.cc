#include "partition/picture_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/suggest.h"

namespace dfrost {

PictureNames::PictureNames(const Corpus& corpus) : corpus_(corpus), names_(corpus.domains.size()) {
  for (std::size_t d = 0; d < names_.size(); ++d) {
    const Domain& domain = corpus.domains[d];
    for (std::size_t i = domain.first_train; i < domain.first_train + domain.train_count; ++i) {
      if (corpus.train.name(i).empty()) continue;
      const auto [at, is_new] = names_[d].try_emplace(corpus.train.name(i), Found{Meaning::training, i});
      if (!is_new) at->second.meaning = Meaning::several;  // a list may name a file twice
    }
    for (std::size_t i = domain.first_test; i < domain.first_test + domain.test_count; ++i) {
      if (!corpus.test.name(i).empty())
        names_[d].try_emplace(corpus.test.name(i), Found{Meaning::testing, 0});
    }
  }
}

PictureNames::Found PictureNames::find(std::string_view text) const {
  if (const auto number = whole_number(text)) {
    const auto index = static_cast<std::size_t>(*number);
    return *number >= 0 && index < corpus_.train.size() ? Found{Meaning::training, index} : Found{};
  }
  Found found;
  const auto look = [&](std::size_t domain, std::string_view name) {
    const auto at = names_[domain].find(name);
    if (at == names_[domain].end()) return;
    found = found.meaning == Meaning::nothing ? at->second : Found{Meaning::several, 0};
  };
  for (std::size_t d = 0; d < names_.size(); ++d) {
    look(d, text);
    const std::string& name = corpus_.domains[d].name;
    if (text.starts_with(name) && text.substr(name.size()).starts_with(':'))
      look(d, text.substr(name.size() + 1));
  }
  return found;
}

std::string PictureNames::text_of(std::size_t picture) const {
  const std::string name(corpus_.train.name(picture));
  if (!name.empty()) {
    for (const auto& text : {name, fmt::format("{}:{}", domain_of(picture).name, name)}) {
      const Found found = find(text);
      if (found.meaning == Meaning::training && found.picture == picture && !whole_number(text)) return text;
    }
  }
  return std::to_string(picture);
}

std::string PictureNames::hint_for(std::string_view text) const {
  std::vector<std::string> names;
  for (const auto& domain : names_) {
    for (const auto& [name, found] : domain) names.emplace_back(name);
  }
  if (names.empty() || whole_number(text))
    return fmt::format("the numbers of the training pictures go from 0 to {}", corpus_.train.size() - 1);
  std::sort(names.begin(), names.end());
  return did_you_mean(
      text, names,
      fmt::format(
          "pictures are named as in their folder or list, such as '{}'; what data.train_per_domain and "
          "data.test_per_domain leave out must not be listed",
          names.front()));
}

const Domain& PictureNames::domain_of(std::size_t picture) const {
  const auto after = std::ranges::find_if(
      corpus_.domains, [&](const Domain& d) { return picture < d.first_train + d.train_count; });
  return *after;
}

std::optional<long long> whole_number(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc()) return value;
  return text.starts_with('-') ? std::numeric_limits<long long>::min()
                               : std::numeric_limits<long long>::max();
}

}  // namespace dfrost

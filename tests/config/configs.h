// Configurations for the tests: from text, and random values for any key.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "config/key.h"
#include "config/toml_file.h"

namespace dfrost::test {

inline RunConfig parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_config(text, "test.toml", "/experiments", overrides);
}

// Sets a field to a value drawn at random among those it allows.
struct DrawValue {
  RunConfig& config;
  RandomStream& stream;

  std::size_t whole(std::size_t least, std::size_t most) const {
    std::size_t span = 10;  // small numbers as often as large ones
    for (std::uint64_t digits = stream.below(6); digits > 0; --digits) span *= 10;
    return least + stream.below(std::min(most - least, span) + 1);
  }
  void operator()(const FlagField& field) const { field.place.in(config) = stream.below(2) == 1; }
  void operator()(const CountField& field) const { field.place.in(config) = whole(field.least, field.most); }
  void operator()(const NumberField& field) const {
    // Any digits, any magnitude that the range allows.
    const double spread = stream.uniform() * (stream.below(2) == 1 ? 1e-9 : 0.999);
    field.place.in(config) =
        std::max(field.least, -1e3) + spread * (std::min(field.most, 1e3) - std::max(field.least, -1e3));
  }
  void operator()(const TextField& field) const { field.place.in(config) = text(); }
  void operator()(const PathField& field) const { field.place.in(config) = "/somewhere/" + text(); }
  void operator()(const WordField& field) const { field.set(config, stream.below(field.words.size())); }
  void operator()(const CountsField& field) const {
    auto& list = field.place.in(config);
    list.resize(stream.below(4));
    for (auto& number : list) number = whole(field.least, field.most);
  }
  void operator()(const DomainsField& field) const {
    field.place.in(config) = {
        {.name = "own " + text(), .path = "/pictures/" + text(), .format = "folder", .train = 7'000},
        {.name = "svhn"},
        {.name = "mnist", .test = 3}};
  }

 private:
  std::string text() const {
    static const std::vector<std::string> texts = {"plain",     "two words", "quo\"te",      "back\\slash",
                                                   "tab\there", "ünïcode ✓", "# no comment", "[x]",
                                                   "\x01\x7f",  "'''"};
    return texts[stream.below(texts.size())];
  }
};

}  // namespace dfrost::test

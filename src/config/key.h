// The keys of an experiment's file, each declared once: reading, checking, --set, `dfrost config explain`,
// the commented file that `dfrost config init` writes and the reference page all follow from this table. A
// default is what a default-made RunConfig holds; a method may set another (run/config_presets.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/config.h"

namespace dfrost {

// Where in a RunConfig a value lies.
template <typename T>
struct Place {
  T& (*in)(RunConfig&);
  const T& (*of)(const RunConfig&);
};

struct FlagField {
  Place<bool> place;
};

struct CountField {
  Place<std::size_t> place;
  std::size_t least = 0;
  std::size_t most = 0;
};

struct NumberField {
  Place<double> place;
  double least = 0;
  double most = 0;
  bool above_least = false;  // `least` itself is not allowed
  bool below_most = false;
};

struct TextField {
  Place<std::string> place;
};

struct PathField {
  Place<std::filesystem::path> place;
  bool may_be_name = false;  // a text without '/' and '.' is a name, not a path
};

// One of some words; in the RunConfig an enum or the word itself, hidden behind the index of the word.
struct WordField {
  std::vector<std::string> words;
  std::function<void(RunConfig&, std::size_t word)> set;
  std::function<std::size_t(const RunConfig&)> get;
};

struct CountsField {
  Place<std::vector<std::size_t>> place;
  std::size_t least = 0;
  std::size_t most = 0;
};

struct DomainsField {
  Place<std::vector<DomainSpec>> place;
};

using Field = std::variant<FlagField, CountField, NumberField, TextField, PathField, WordField, CountsField,
                           DomainsField>;

struct ConfigKey {
  std::string section;
  std::string name;
  Field field;
  std::string comment;      // one line, for the file
  std::string explanation;  // a few sentences, for `explain` and the reference page; may be empty
  std::string paper = {};   // where the paper says it; empty where it does not
  bool main = false;        // written into a new file even where it is the default

  std::string full_name() const { return section + "." + name; }
};

struct ConfigSection {
  std::string name;
  std::string comment;
};

// In the order in which a file is written.
std::span<const ConfigSection> config_sections();
std::span<const ConfigKey> config_keys();

// By full name; null where there is none.
const ConfigKey* find_config_key(std::string_view full_name);

// What may stand there, for people: "a whole number from 1 to 4096", "one of ot, average, barycenter".
std::string describe_values(const Field& field);

// Whether the value that `config` holds is one of those.
bool is_allowed(const ConfigKey& key, const RunConfig& config);

// The value as TOML.
std::string toml_value(const ConfigKey& key, const RunConfig& config);
// A text as a TOML string.
std::string toml_text(std::string_view text);

bool same_value(const ConfigKey& key, const RunConfig& a, const RunConfig& b);
void copy_value(const ConfigKey& key, const RunConfig& from, RunConfig& to);

}  // namespace dfrost

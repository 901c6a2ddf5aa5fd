// An experiment of experiments, as its TOML file says it (docs/reference/study-file.md): a base experiment,
// axes along which it varies, seeds, scales at which it can be run, and the tables, figures and claims that
// are made of its runs. A plain value: what the keys of its experiments mean is found out when a plan is made
// (study_plan.h). Every error says file, line and column.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "config/toml_file.h"

namespace dfrost {

using StudyKeys = std::vector<ConfigLayer>;

struct StudyValue {
  std::string name;   // "dfedavgm"
  std::string label;  // "DFedAvgM-PT"
  StudyKeys keys;
  std::map<std::string, StudyKeys> at;  // by scale: laid over `keys`
};

struct StudyAxis {
  std::string name;
  std::string title;
  std::vector<StudyValue> values;

  // Its place among the values; nothing for an unknown name.
  std::optional<std::size_t> find(std::string_view value) const;
};

struct StudyScale {
  std::string name;
  std::string words;        // what is reduced, for people
  std::vector<Seed> seeds;  // empty: the study's
  StudyKeys keys;
};

// Some values of some axes; of an axis that is not named, all.
using StudySelection = std::map<std::string, std::vector<std::string>>;

// Numbers of somebody else to stand beside ours, in the unit that tables show.
struct StudyReference {
  struct Entry {
    std::vector<std::string> values;  // names, of the rows' axes and then of the columns'
    double number = 0;
  };
  std::string title;  // "paper"
  std::string figure;
  std::vector<Entry> entries;
};

struct StudyTable {
  std::string name, title, about;
  std::vector<std::string> rows, columns;  // axes
  std::vector<std::string> figures;        // of records/record.h, by full name
  StudySelection where;
  StudySelection baseline;  // whose figures are taken off, seed by seed; empty: no differences
  std::optional<StudyReference> reference;
  bool networks = false;  // on the page, each row has a drawing of its network
};

struct StudyFigure {
  std::string name, title, about;
  std::string y;  // a figure of the records
  std::string x;  // "round", an axis, or a figure
  std::vector<std::string> lines;
  StudySelection where;
  bool log = false;  // y on a logarithmic scale
};

// "85", "62.5"
std::string level_name(double level);

// After how many rounds runs first reached each of some levels of a figure.
struct StudyTarget {
  std::string name, title, about;
  std::string figure;
  std::vector<double> levels;  // in the unit that tables show
  std::vector<std::string> rows;
  StudySelection where;
  StudySelection baseline;  // whose rounds are divided by a row's, seed by seed; empty: no ratios
  // Ratios of somebody else: the row's values, the level, and how many times fewer rounds.
  std::optional<StudyReference> reference;
};

// That `more` has a higher figure than `less`, by at least `by` in the unit that tables show.
struct StudyClaim {
  std::string text;
  std::string figure;
  StudySelection more, less, where;
  double by = 0;
};

struct Study {
  std::string name, title, about;
  std::string text;   // of its file, whole
  std::string place;  // what names it in errors
  std::filesystem::path folder;
  std::string base_preset;            // or
  std::filesystem::path base_config;  // a file
  StudyKeys base_keys;
  std::vector<StudyAxis> axes;
  std::vector<StudySelection> left_out, added;
  std::vector<Seed> seeds;
  std::vector<StudyScale> scales;  // the first is the usual one; may be empty
  std::vector<StudyTable> tables;
  std::vector<StudyTarget> targets;
  std::vector<StudyFigure> figures;
  std::vector<StudyClaim> claims;

  std::optional<std::size_t> find_axis(std::string_view axis) const;
  // The usual one for an empty name; null where there are none. Throws (invalid_argument) for an unknown one.
  const StudyScale* scale(std::string_view scale_name) const;
};

// `name` is what the study is called where its file does not say.
Study parse_study(std::string_view text, const std::string& name, const std::string& place,
                  const std::filesystem::path& folder);

// A file, or the name of a study that comes with dfrost, such as "hostile" or "paper/five".
Study load_study(const std::string& file_or_name);

}  // namespace dfrost

// The tables of a study's file, each key asked for once and of the right type; done() refuses what nobody
// asked for. Errors (invalid_argument) say line and column.
#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dfrost/error.h"
#include "study/study_file.h"

namespace dfrost {

// Where the text came from.
struct StudySource {
  std::string place;
  std::filesystem::path folder;  // relative paths start there
};

class StudyReader {
 public:
  // `what` says what the table is: "an axis".
  StudyReader(const toml::table& table, const StudySource& source, std::string what);

  bool has(std::string_view key) const { return table_.contains(key); }
  const toml::node* find(std::string_view key);
  std::string text(std::string_view key, std::string otherwise);
  std::string required_text(std::string_view key);
  std::optional<double> number(std::string_view key);
  bool flag(std::string_view key);  // false where it is not there
  // A list, or one alone.
  std::vector<std::string> texts(std::string_view key);
  std::vector<Seed> seeds(std::string_view key);
  // [[key]], in order.
  std::vector<StudyReader> tables(std::string_view key);
  // A table of experiment keys, {train.batch = 8}.
  StudyKeys keys(std::string_view key);
  StudyKeys keys_of(const toml::table& sections) const;
  // {method = "dfrost", topology = ["ring", "grid"]}
  StudySelection selection(std::string_view key);
  StudySelection whole_selection();  // of the table itself
  void done() const;

  const toml::table& table() const { return table_; }
  const StudySource& source() const { return source_; }
  Error refusal(const toml::node* node, const std::string& message, std::string hint = {}) const;

 private:
  StudySelection selection_of(const toml::table& table) const;
  std::vector<std::string> texts_of(const toml::node& node, std::string_view key) const;

  const toml::table& table_;
  const StudySource& source_;
  std::string what_;
  std::vector<std::string> asked_;
};

// A value as TOML.
std::string toml_of(const toml::node& node);

}  // namespace dfrost

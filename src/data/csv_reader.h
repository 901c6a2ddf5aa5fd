// CSV text, one record at a time (RFC 4180: quotes, commas and line breaks inside quotes), with the position
// of each for errors. A mark that spreadsheets put in front and blank lines are passed over.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dfrost/error.h"

namespace dfrost {

struct CsvPosition {
  std::size_t line = 1;    // from 1
  std::size_t offset = 0;  // bytes
};

class CsvReader {
 public:
  // `place` names the text in errors, `hint` says there what a line should look like. Both and the text must
  // outlive it.
  CsvReader(std::string_view text, std::string_view place, std::string_view hint);

  // False at the end.
  bool next(std::vector<std::string>& fields);

  // Of the record read last.
  CsvPosition position() const { return record_; }
  Error error(const std::string& what) const { return error_at(record_, what); }
  Error error_at(CsvPosition where, const std::string& what) const { return error_at(where, what, hint_); }
  Error error_at(CsvPosition where, const std::string& what, std::string_view hint) const;

 private:
  void step();
  bool at_separator() const;
  void add(std::string& field, char c) const;
  std::string take_field();
  std::string take_quoted();

  std::string_view text_, place_, hint_;
  CsvPosition at_;
  CsvPosition record_;
};

// The field as text, in quotes where it needs them.
std::string csv_field(std::string_view text);

}  // namespace dfrost

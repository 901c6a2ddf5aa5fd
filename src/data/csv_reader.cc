#include "data/csv_reader.h"

#include <fmt/format.h>

namespace dfrost {
namespace {

// A system's paths end at 4,096 bytes; what is longer is no list of pictures, and must not be repeated to
// whoever reads the error.
constexpr std::size_t kLongestField = std::size_t{64} << 10;

}  // namespace

CsvReader::CsvReader(std::string_view text, std::string_view place, std::string_view hint)
    : text_(text), place_(place), hint_(hint) {
  if (text_.starts_with("\xEF\xBB\xBF")) at_.offset = 3;
}

bool CsvReader::next(std::vector<std::string>& fields) {
  fields.clear();
  while (at_.offset < text_.size() && (text_[at_.offset] == '\n' || text_[at_.offset] == '\r')) step();
  if (at_.offset == text_.size()) return false;
  record_ = at_;
  fields.push_back(take_field());
  while (at_.offset < text_.size() && text_[at_.offset] == ',') {
    ++at_.offset;
    fields.push_back(take_field());
  }
  return true;
}

Error CsvReader::error_at(CsvPosition where, const std::string& what, std::string_view hint) const {
  return Error(ErrorCode::data_loss, fmt::format("{}, line {}: {}", place_, where.line, what),
               std::string(hint))
      .at(fmt::format("{}, byte {}", place_, where.offset));
}

void CsvReader::step() {
  if (text_[at_.offset] == '\n') ++at_.line;
  ++at_.offset;
}

bool CsvReader::at_separator() const {
  return at_.offset == text_.size() || text_[at_.offset] == ',' || text_[at_.offset] == '\n' ||
         text_[at_.offset] == '\r';
}

void CsvReader::add(std::string& field, char c) const {
  if (field.size() == kLongestField)
    throw error(fmt::format("a field is longer than {} bytes", kLongestField));
  field += c;
}

std::string CsvReader::take_field() {
  if (at_.offset < text_.size() && text_[at_.offset] == '"') return take_quoted();
  std::string field;
  while (!at_separator()) add(field, text_[at_.offset++]);
  return field;
}

std::string CsvReader::take_quoted() {
  std::string field;
  ++at_.offset;
  for (;;) {
    if (at_.offset == text_.size()) throw error("a quote is opened and never closed");
    if (text_[at_.offset] == '"') {
      ++at_.offset;
      if (at_.offset == text_.size() || text_[at_.offset] != '"') break;
    }
    add(field, text_[at_.offset]);
    step();
  }
  if (!at_separator()) throw error("text follows a closing quote");
  return field;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace dfrost

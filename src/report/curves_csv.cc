#include "report/curves_csv.h"

#include <algorithm>
#include <map>
#include <vector>

namespace dfrost {
namespace {

// A spreadsheet would take a cell that begins so for a formula.
constexpr std::string_view kFormulaStarts = "=+-@\t\r";

std::string cell(const std::string& text) {
  const std::string guarded =
      !text.empty() && kFormulaStarts.find(text[0]) != std::string_view::npos ? "'" + text : text;
  if (guarded.find_first_of(",\"\r\n") == std::string::npos) return guarded;
  std::string quoted = "\"";
  for (const char c : guarded) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void flatten(const std::string& name, const Json& value, std::map<std::string, std::string>& row,
             std::vector<std::string>& columns) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      flatten(name.empty() ? key : name + "." + key, inner, row, columns);
    }
    return;
  }
  if (value.is_array() || value.is_null()) return;
  if (std::ranges::find(columns, name) == columns.end()) columns.push_back(name);
  // Numbers and flags as JSON has them; only a text needs care.
  row[name] = value.is_string() ? cell(value.get<std::string>()) : value.dump();
}

}  // namespace

std::string curves_csv(std::span<const Json> rounds) {
  std::vector<std::string> columns = {"round"};
  std::vector<std::map<std::string, std::string>> rows;
  for (const auto& round : rounds) flatten("", round, rows.emplace_back(), columns);
  std::string csv;
  for (std::size_t c = 0; c < columns.size(); ++c) csv += (c == 0 ? "" : ",") + cell(columns[c]);
  csv += "\r\n";
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto found = row.find(columns[c]);
      csv += (c == 0 ? "" : ",") + (found == row.end() ? std::string() : found->second);
    }
    csv += "\r\n";
  }
  return csv;
}

}  // namespace dfrost

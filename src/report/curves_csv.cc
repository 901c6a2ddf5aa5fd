#include "report/curves_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace dfrost {
namespace {

// A spreadsheet would take a cell that begins so for a formula.
constexpr std::string_view kFormulaStarts = "=+-@\t\r";

std::string cell(std::string text) {
  if (!text.empty() && kFormulaStarts.find(text[0]) != std::string_view::npos)
    text.insert(text.begin(), '\'');
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted(1, '"');
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  quoted += '"';
  return quoted;
}

void flatten(const std::string& name, const Json& value, std::map<std::string, std::string>& row,
             std::vector<std::string>& columns) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      flatten(name.empty() ? key : fmt::format("{}.{}", name, key), inner, row, columns);
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
  const auto add_line = [&](const auto& cell_of) {
    for (const auto& column : columns) {
      if (&column != &columns.front()) csv += ',';
      csv += cell_of(column);
    }
    csv += "\r\n";
  };
  add_line([](const std::string& column) { return cell(column); });
  for (const auto& row : rows) {
    add_line([&](const std::string& column) {
      const auto found = row.find(column);
      return found == row.end() ? std::string() : found->second;
    });
  }
  return csv;
}

}  // namespace dfrost

#include "records/record_file.h"

#include <fstream>
#include <limits>

#include "base/file.h"
#include "dfrost/error.h"

namespace dfrost {

namespace fs = std::filesystem;
namespace {

// The round that a line is of; more than any where it is cut short or none of ours.
std::size_t round_of(const std::string& line) {
  const auto json = nlohmann::ordered_json::parse(line, nullptr, false);
  const auto round = json.is_object() ? json.find("round") : json.end();
  const bool known = round != json.end() && round->is_number_unsigned();
  return known ? round->get<std::size_t>() : std::numeric_limits<std::size_t>::max();
}

}  // namespace

void keep_rounds_until(const fs::path& path, std::size_t rounds) {
  if (!fs::exists(path)) return write_file_atomically(path, "");
  std::ifstream lines(path, std::ios::binary);
  std::string kept;
  // A last line without its end was cut short: getline() then meets the end of the file.
  for (std::string line; std::getline(lines, line) && !lines.eof() && round_of(line) <= rounds;)
    kept += line + "\n";
  // What cannot be read must not be taken for empty, and cut.
  if (!lines.is_open() || lines.bad())
    throw Error(ErrorCode::data_loss, "the records of earlier rounds cannot be read").at(path.string());
  // Replaced, not cut: who reads along takes another file for a new beginning, but a shorter one only until
  // it has grown again.
  if (kept.size() != fs::file_size(path)) write_file_atomically(path, kept);
}

nlohmann::ordered_json last_evaluation(const fs::path& path) {
  nlohmann::ordered_json found;
  std::ifstream lines(path, std::ios::binary);
  for (std::string line; std::getline(lines, line);) {
    auto json = nlohmann::ordered_json::parse(line, nullptr, false);
    if (json.is_object() && json.contains("evaluation")) found = std::move(json["evaluation"]);
  }
  return found;
}

void append_lines(const fs::path& path, std::span<const std::string> lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  if (!text.empty()) append_to_file(path, text);
}

}  // namespace dfrost

#include "run/record_file.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"

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
  std::string kept;
  if (fs::exists(path)) {
    std::istringstream lines(read_text_file(path, std::size_t{1} << 30));
    for (std::string line; std::getline(lines, line);) {
      if (round_of(line) > rounds) break;
      kept += line + "\n";
    }
  }
  write_file_atomically(path, kept);
}

void append_lines(const fs::path& path, std::span<const std::string> lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  if (!text.empty()) append_to_file(path, text);
}

}  // namespace dfrost

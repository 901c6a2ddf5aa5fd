#include "run/record_file.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"

namespace dfrost {

namespace fs = std::filesystem;

void keep_rounds_until(const fs::path& path, std::size_t rounds) {
  std::string kept;
  if (fs::exists(path)) {
    std::istringstream lines(read_text_file(path, std::size_t{1} << 30));
    for (std::string line; std::getline(lines, line);) {
      const auto json = nlohmann::ordered_json::parse(line, nullptr, false);
      if (json.is_discarded() || !json.contains("round") || json["round"].get<std::size_t>() > rounds) break;
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

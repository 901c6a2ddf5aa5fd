#include "records/record_file.h"

#include <charconv>
#include <fstream>
#include <functional>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/json.h"
#include "dfrost/error.h"

namespace dfrost {

namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

std::optional<std::size_t> round_of(const Json& json) {
  const auto round = json.is_object() ? json.find("round") : json.end();
  const bool known = round != json.end() && round->is_number_unsigned();
  return known ? std::optional(round->get<std::size_t>()) : std::nullopt;
}

// The round that the beginning of a line names; nothing where it ends before that.
std::optional<std::size_t> round_at_the_beginning(std::string_view line) {
  constexpr std::string_view kName = "\"round\":";
  const auto at = line.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t round = 0;
  const char* first = line.data() + at + kName.size();
  const char* end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(first, end, round);
  // A number at the very end may have lost digits.
  return error == std::errc() && stop != end ? std::optional(round) : std::nullopt;
}

// `use` gets each line, and whether it has its end.
void for_each_line(const fs::path& path, const std::function<void(const std::string&, bool)>& use) {
  std::ifstream lines;
  if (fs::is_regular_file(path)) lines.open(path, std::ios::binary);  // a pipe would keep us waiting
  for (std::string line; std::getline(lines, line);) use(line, !lines.eof());
  // What cannot be read must not be taken for empty, and cut.
  if (!lines.is_open() || lines.bad())
    throw Error(ErrorCode::data_loss, "the records of earlier rounds cannot be read").at(path.string());
}

}  // namespace

KeptRecords keep_rounds_until(const fs::path& path, std::size_t rounds) {
  KeptRecords kept;
  if (!fs::exists(path)) {
    write_file_atomically(path, "");
    return kept;
  }
  std::string good, damaged;
  for_each_line(path, [&](const std::string& line, bool whole) {
    auto json = parse_own_json(line);
    const auto round = round_of(json);
    if (round && whole) {
      if (*round > rounds) return;
      good += line + "\n";
      kept.lines.push_back(std::move(json));
      return;
    }
    // A crash while it was written: it belongs to a round that is computed again.
    if (!whole && round_at_the_beginning(line).value_or(rounds + 1) > rounds) return;
    damaged += line + "\n";
    ++kept.damaged;
  });
  if (!damaged.empty()) append_to_file(path.string() + kSetAside, damaged);
  // Replaced, not cut: who reads along takes another file for a new beginning, but a shorter one only until
  // it has grown again.
  if (good.size() != fs::file_size(path)) write_file_atomically(path, good);
  return kept;
}

std::vector<Json> read_records(const fs::path& path) {
  std::vector<Json> records;
  if (!fs::exists(path)) return records;
  for_each_line(path, [&](const std::string& line, bool) {
    auto json = parse_own_json(line);
    if (round_of(json)) records.push_back(std::move(json));
  });
  return records;
}

void append_lines(const fs::path& path, std::span<const std::string> lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  if (!text.empty()) append_to_file(path, text);
}

}  // namespace dfrost

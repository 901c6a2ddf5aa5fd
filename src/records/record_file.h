// The files of records, one JSON object per line, that grow round by round: a line is on disk before the next
// round starts, and a resumed run leaves no line twice. What can be read is never lost: a damaged line is set
// aside.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace dfrost {

struct KeptRecords {
  std::vector<nlohmann::ordered_json> lines;  // of rounds up to the one asked for
  std::size_t damaged = 0;                    // lines that cannot be read, now in FILE.damaged
};

// Leaves the lines of rounds up to `rounds`: what came after the checkpoint is computed again, and so is a
// last line that was cut short. Any other line that is none of ours moves to a file beside, whose name ends
// in kSetAside. A file that is not there is made.
inline constexpr const char* kSetAside = ".damaged";
KeptRecords keep_rounds_until(const std::filesystem::path& path, std::size_t rounds);

// Every line that can be read, of any round; none where there is no file.
std::vector<nlohmann::ordered_json> read_records(const std::filesystem::path& path);

// All lines in one write, flushed to disk; without lines nothing happens.
void append_lines(const std::filesystem::path& path, std::span<const std::string> lines);

}  // namespace dfrost

// The files of records, one JSON object per line, that grow round by round: a line is on disk before the next
// round starts, and a resumed run leaves no line twice.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace dfrost {

// Leaves the lines of rounds up to `rounds`: what came after the checkpoint is computed again. A file that is
// not there is made.
void keep_rounds_until(const std::filesystem::path& path, std::size_t rounds);

// The "evaluation" of the last line that has one; null where none has.
nlohmann::ordered_json last_evaluation(const std::filesystem::path& path);

// All lines in one write, flushed to disk; without lines nothing happens.
void append_lines(const std::filesystem::path& path, std::span<const std::string> lines);

}  // namespace dfrost

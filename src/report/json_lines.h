// A file of JSON objects, one per line, read as it grows: each poll gives the complete lines that came since
// the last one. A file that was replaced, cut or deleted is started over. Never throws because of what the
// file holds, and holds no line of more than 64 MB.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dfrost {

using Json = nlohmann::ordered_json;

// An object, nested no deeper than a record can be; nothing where the text is not one.
std::optional<Json> parse_record(std::string_view text);

class JsonLines {
 public:
  explicit JsonLines(std::filesystem::path path) : path_(std::move(path)) {}

  struct News {
    bool restarted = false;               // what was given before no longer counts
    std::vector<Json> lines;              // objects, in order
    std::vector<std::size_t> unreadable;  // numbers, from 1, of complete lines that are no JSON objects
  };
  News poll();

  std::size_t lines_read() const { return lines_read_; }
  // Bytes after the last complete line: somebody is writing, or was stopped while writing.
  std::size_t bytes_of_half_line() const { return half_line_.size(); }

 private:
  void start_over();
  void add_to_line(std::string_view text);

  std::filesystem::path path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::uint64_t offset_ = 0;  // of what is read; the half line is kept
  std::string half_line_;
  bool too_long_ = false;  // the line under way: none of it is kept
  std::size_t lines_read_ = 0;
};

}  // namespace dfrost

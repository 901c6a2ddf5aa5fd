#include "run/record_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "dfrost/error.h"

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
  if (text.empty()) return;
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  const bool written = file >= 0 &&
                       ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       ::fsync(file) == 0;
  const int error = errno;
  if (file >= 0) ::close(file);
  if (!written) {
    throw Error(error == ENOSPC ? ErrorCode::resource_exhausted : ErrorCode::permission_denied,
                fmt::format("cannot write {}", path.string()),
                "what was written before is whole; --resume goes on")
        .at(path.string());
  }
}

}  // namespace dfrost

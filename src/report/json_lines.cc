#include "report/json_lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <span>

#include "base/json.h"

namespace dfrost {
namespace {

// A round of a thousand clients takes a megabyte.
constexpr std::size_t kLongestLine = std::size_t{64} << 20;

// Does not follow a link out of the folder, nor wait for whoever fills a pipe.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  ~OpenFile() {
    if (file_ >= 0) ::close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  bool is_regular(struct stat& status) const {
    return file_ >= 0 && ::fstat(file_, &status) == 0 && S_ISREG(status.st_mode);
  }
  ssize_t read_at(std::uint64_t offset, std::span<char> buffer) const {
    return ::pread(file_, buffer.data(), buffer.size(), static_cast<off_t>(offset));
  }

 private:
  int file_;
};

}  // namespace

std::optional<Json> parse_record(std::string_view text) {
  auto json = parse_own_json(text);
  if (!json.is_object()) return std::nullopt;
  return json;
}

void JsonLines::start_over() {
  offset_ = 0;
  half_line_.clear();
  too_long_ = false;
  lines_read_ = 0;
}

void JsonLines::add_to_line(std::string_view text) {
  too_long_ = too_long_ || half_line_.size() + text.size() > kLongestLine;
  if (too_long_) {
    half_line_ = "…";  // no record, and too long to keep until its end
  } else {
    half_line_ += text;
  }
}

JsonLines::News JsonLines::poll() {
  News news;
  const OpenFile file(path_);
  struct stat status {};
  if (!file.is_regular(status)) {
    news.restarted = inode_ != 0;
    inode_ = 0;
    start_over();
    return news;
  }
  const bool same = status.st_ino == inode_ && status.st_dev == device_;
  if (!same || static_cast<std::uint64_t>(status.st_size) < offset_) {
    news.restarted = inode_ != 0;
    inode_ = status.st_ino;
    device_ = status.st_dev;
    start_over();
  }
  std::array<char, 1 << 16> buffer;
  for (ssize_t count = 0; (count = file.read_at(offset_, buffer)) > 0;) {
    offset_ += static_cast<std::uint64_t>(count);
    std::string_view rest(buffer.data(), static_cast<std::size_t>(count));
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos;
         rest.remove_prefix(end + 1)) {
      add_to_line(rest.substr(0, end));
      ++lines_read_;
      if (auto record = too_long_ ? std::nullopt : parse_record(half_line_)) {
        news.lines.push_back(std::move(*record));
      } else {
        news.unreadable.push_back(lines_read_);
      }
      half_line_.clear();
      too_long_ = false;
    }
    add_to_line(rest);
  }
  return news;
}

}  // namespace dfrost

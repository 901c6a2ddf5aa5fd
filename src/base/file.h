// Files: read whole, mapped, or written so that a crash leaves the old content or the new, never a half.
// Every failure is an Error that names the file and what the system said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dfrost {

// A read-only view of a file's bytes. Only regular files are opened, and a pipe or a device is refused
// without waiting for it. Files up to kReadAtOnceBytes are read when opened, so that nothing that happens to
// the file later can be seen; larger ones are mapped, and read from disk when touched.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }

  // Throws (data_loss) where the file was cut short, or its disk failed, under a mapped view: what was read
  // since may be zeros. To be asked after the last read of what is going to be believed.
  void check() const;

  // Gives the memory behind some of the bytes back to the system where they are mapped; they are read again
  // if touched again. Without it a file that is read once stays in memory whole, beside what was made of it.
  void release(std::span<const std::byte> part) const;

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::optional<std::size_t> guard_;  // of base/bus_guard.h, where the file is mapped
};

inline constexpr std::size_t kReadAtOnceBytes = std::size_t{64} << 20;

// Refuses files above `limit_bytes`, so that a wrong path cannot take all memory.
std::string read_text_file(const std::filesystem::path& path, std::size_t limit_bytes = 64u << 20);

// The first bytes of a regular file, `count` or as many as it has: what it is, without reading it all.
std::string read_file_start(const std::filesystem::path& path, std::size_t count);

// Writes to a temporary file beside `path`, flushes it to disk and renames it over `path`. The temporary file
// is a new one of a name that nobody can have foreseen. A link stays a link: the file that it leads to is
// replaced. What is no file on a disk (a pipe, /dev/null) is written to as it is. In pieces, one after the
// other: what lies in several places need not be copied together.
using FilePieces = std::span<const std::span<const std::byte>>;
void write_file_atomically(const std::filesystem::path& path, FilePieces pieces);
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

// Whether a name is one that write_file_atomically() gives to what it has not finished.
bool is_unfinished_file(const std::filesystem::path& path);

// Adds to the end of a file, which is made where there is none, in one write, flushed to disk. Where that
// fails, nothing that was there before is lost, and of what is new perhaps a part is there.
void append_to_file(const std::filesystem::path& path, std::string_view text);

// Changes of which one sees all or nothing. What is not there need not be removed; says whether it was.
void rename_file(const std::filesystem::path& from, const std::filesystem::path& to);
bool remove_file(const std::filesystem::path& path);
void cut_file(const std::filesystem::path& path, std::size_t bytes);

// A folder of a name that nobody can have foreseen, `beginning` and some letters, made in `parent` for its
// owner alone; it is gone with all that is in it when this is.
class WorkFolder {
 public:
  WorkFolder(const std::filesystem::path& parent, const std::string& beginning);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Keeps a folder for one process: while a lock lives, taking another on the same folder fails
// (failed_precondition). The system lets go of it however the process ends; nothing is left on disk.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace dfrost

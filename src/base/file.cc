#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "dfrost/error.h"

namespace dfrost {
namespace {

ErrorCode code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::not_found;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::permission_denied;
    case ENOSPC:
    case EFBIG:  // a limit on how large files may be
    case EDQUOT:
    case ENOMEM: return ErrorCode::resource_exhausted;
    default: return ErrorCode::data_loss;
  }
}

[[noreturn]] void fail(std::string_view doing, const std::filesystem::path& path, int error) {
  throw Error(code_of(error), fmt::format("cannot {} {}: {}", doing, path.string(), std::strerror(error)))
      .at(path.string());
}

class FileDescriptor {
 public:
  FileDescriptor(const std::filesystem::path& path, int flags, mode_t mode = 0)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// The size of a regular file; a directory or a device is an error of its own.
std::size_t regular_file_size(const FileDescriptor& file, const std::filesystem::path& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail("read", path, errno);
  if (S_ISDIR(info.st_mode)) {
    throw Error(ErrorCode::not_found, fmt::format("{} is a folder, not a file", path.string()))
        .at(path.string());
  }
  if (!S_ISREG(info.st_mode)) {
    throw Error(ErrorCode::not_found, fmt::format("{} is not a regular file", path.string()))
        .at(path.string());
  }
  return static_cast<std::size_t>(info.st_size);
}

// Something that must not be replaced by a file: a pipe, a terminal, /dev/null.
bool is_device_or_pipe(const std::filesystem::path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

// Where a link leads; the path itself where there is nothing yet.
std::filesystem::path followed(const std::filesystem::path& path) {
  std::error_code absent;
  auto real = std::filesystem::canonical(path, absent);
  return absent ? path : real;
}

// Removes the temporary file unless it was renamed into place.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path path) : path_(std::move(path)) {}
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  void keep() { path_.clear(); }

 private:
  std::filesystem::path path_;
};

void write_all(const FileDescriptor& file, std::span<const std::byte> bytes,
               const std::filesystem::path& path) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail("write", path, errno);
    done += static_cast<std::size_t>(put);
  }
  // What is no file on a disk (a pipe, a device) cannot be flushed to one, and need not.
  if (::fsync(file.get()) != 0 && errno != EINVAL) fail("write", path, errno);
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const FileDescriptor file(path, O_RDONLY);
  if (!file) fail("open", path, errno);
  size_ = regular_file_size(file, path);
  if (size_ == 0) return;  // mmap refuses length 0
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) fail("map", path, errno);
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void release_pages(std::span<const std::byte> mapped) {
  if (mapped.empty()) return;
  // Whole pages, also those shared with the bytes before and after: what lies there is not lost.
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto into_page = reinterpret_cast<std::uintptr_t>(mapped.data()) % page;
  ::madvise(const_cast<std::byte*>(mapped.data()) - into_page, into_page + mapped.size(), MADV_DONTNEED);
}

std::string read_text_file(const std::filesystem::path& path, std::size_t limit_bytes) {
  const FileDescriptor file(path, O_RDONLY);
  if (!file) fail("open", path, errno);
  const std::size_t size = regular_file_size(file, path);
  if (size > limit_bytes) {
    throw Error(ErrorCode::data_loss, fmt::format("{} is {} bytes, more than the {} expected of such a file",
                                                  path.string(), size, limit_bytes))
        .at(path.string());
  }
  std::string text(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(file.get(), text.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, errno);
    if (got == 0) break;  // it shrank meanwhile
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

void write_file_atomically(const std::filesystem::path& given, std::span<const std::byte> bytes) {
  if (is_device_or_pipe(given)) {
    const FileDescriptor device(given, O_WRONLY);
    if (!device) fail("write", given, errno);
    return write_all(device, bytes, given);
  }
  const std::filesystem::path path = followed(given);
  // The process id keeps two processes that write the same file out of each other's way.
  const std::filesystem::path temporary = path.string() + fmt::format(".{}.tmp", ::getpid());
  const FileDescriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (!file) fail("write", path, errno);
  TemporaryFile guard(temporary);
  write_all(file, bytes, path);
  if (::rename(temporary.c_str(), path.c_str()) != 0) fail("write", path, errno);
  guard.keep();
  // The rename itself must reach the disk too.
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const FileDescriptor directory(folder, O_RDONLY | O_DIRECTORY);
  if (directory) ::fsync(directory.get());
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

void append_to_file(const std::filesystem::path& path, std::string_view text) {
  const FileDescriptor file(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (!file) fail("write", path, errno);
  write_all(file, std::as_bytes(std::span(text)), path);
}

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail("open", folder, errno);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  const int error = errno;
  ::close(descriptor_);
  if (error != EWOULDBLOCK) fail("lock", folder, error);
  throw Error(ErrorCode::failed_precondition,
              fmt::format("another process is writing into {}", folder.string()),
              "wait until it has ended, or use another folder")
      .at(folder.string());
}

FolderLock::~FolderLock() { ::close(descriptor_); }

}  // namespace dfrost

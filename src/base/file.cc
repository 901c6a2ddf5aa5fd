#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/bus_guard.h"
#include "base/file_fault.h"
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

// Does a change unless a test has it otherwise; an errno, 0 for done.
template <typename System>
int change(FileChange what, const std::filesystem::path& path, const System& system) {
  int error = 0;
  if (!change_happens(what, path, error)) return error;
  return system() == 0 ? 0 : errno;
}

class FileDescriptor {
 public:
  FileDescriptor() = default;
  FileDescriptor(const std::filesystem::path& path, int flags, mode_t mode = 0)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  void open(const std::filesystem::path& path, int flags, mode_t mode) {
    fd_ = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
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

// A pipe that nobody writes to would keep us waiting in open() itself; what it is, fstat says.
constexpr int kReadOnly = O_RDONLY | O_NONBLOCK | O_NOCTTY;

// Fills `out`, or as much of it as the file has; returns how much that was.
std::size_t read_some(const FileDescriptor& file, std::span<char> out, const std::filesystem::path& path) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::read(file.get(), out.data() + done, out.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Error was_cut_short(const std::filesystem::path& path) {
  return Error(ErrorCode::data_loss, fmt::format("{} was cut short while it was read", path.string()),
               "copy the file again, and leave it alone meanwhile")
      .at(path.string());
}

void* replace_by_memory(void* mapped, std::size_t size, const std::filesystem::path& path) {
  void* memory = ::mmap(mapped, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (memory == MAP_FAILED) fail("read", path, errno);
  return memory;
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

constexpr std::size_t kRandomDigits = 16;

// Digits that nobody can foresee.
std::string random_digits() {
  std::uint64_t bits = 0;
  // Fewer bytes than 256 come whole, once the system has started.
  while (::getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
  }
  return fmt::format("{:0{}x}", bits, kRandomDigits);
}

// A new file beside `path`, removed unless it was renamed into place. Neither a file that is there nor a link
// that somebody has laid is written to: the name is made up, and O_EXCL takes only what it makes.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(const std::filesystem::path& beside) : goal_(beside) {
    int error = EEXIST;
    for (int tries = 0; error == EEXIST && tries < 100; ++tries) {
      path_ = fmt::format("{}.{}.tmp", beside.string(), random_digits());
      error = change(FileChange::create, path_, [&] {
        file_.open(path_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
        return file_ ? 0 : -1;
      });
    }
    if (error != 0) fail("write", beside, error);
  }
  ~UnfinishedFile() {
    if (path_.empty()) return;
    try {
      change(FileChange::remove, path_, [&] { return ::unlink(path_.c_str()); });
    } catch (const DiedInTest&) {  // the dead do not tidy up
    }
  }
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  const FileDescriptor& file() const { return file_; }
  void move_into_place() {
    const int error =
        change(FileChange::rename, goal_, [&] { return ::rename(path_.c_str(), goal_.c_str()); });
    if (error != 0) fail("write", goal_, error);
    path_.clear();
  }

 private:
  const std::filesystem::path& goal_;
  std::filesystem::path path_;
  FileDescriptor file_;
};

// 0, or an errno.
int put_bytes(const FileDescriptor& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return 0;
}

int put_bytes_unless_a_test_forbids(const FileDescriptor& file, std::span<const std::byte> bytes,
                                    const std::filesystem::path& path) {
  int error = 0;
  try {
    if (change_happens(FileChange::write, path, error)) return put_bytes(file, bytes);
  } catch (const DiedInTest&) {
    put_bytes(file, bytes.first(bytes.size() / 2));
    throw;
  }
  put_bytes(file, bytes.first(error != 0 ? bytes.size() / 2 : bytes.size()));
  return error;
}

void write_all(const FileDescriptor& file, FilePieces pieces, const std::filesystem::path& path) {
  for (const auto bytes : pieces)
    if (const int error = put_bytes_unless_a_test_forbids(file, bytes, path)) fail("write", path, error);
  const int error = change(FileChange::flush, path, [&] { return ::fsync(file.get()); });
  // What is no file on a disk (a pipe, a device) cannot be flushed to one, and need not.
  if (error != 0 && error != EINVAL) fail("write", path, error);
}

// What a rename or a removal did must reach the disk too. Not every system can: nothing is lost by that.
void flush_folder_of(const std::filesystem::path& path) {
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const FileDescriptor directory(folder, O_RDONLY | O_DIRECTORY);
  if (directory) change(FileChange::flush, folder, [&] { return ::fsync(directory.get()); });
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const FileDescriptor file(path, kReadOnly);
  if (!file) fail("open", path, errno);
  size_ = regular_file_size(file, path);
  if (size_ == 0) return;  // mmap refuses length 0
  const bool mapped = size_ > kReadAtOnceBytes;
  void* memory = mapped ? ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0)
                        : ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("map", path, errno);
  data_ = static_cast<const std::byte*>(memory);
  if (mapped) guard_ = guard_range(data_, size_);
  if (mapped && guard_) return;
  try {
    // With the table of guarded files full, this one is read at once, however large.
    if (mapped) memory = replace_by_memory(memory, size_, path);
    if (read_some(file, {static_cast<char*>(memory), size_}, path) < size_) throw was_cut_short(path);
  } catch (...) {
    ::munmap(memory, size_);  // the destructor does not run
    throw;
  }
}

MappedFile::~MappedFile() {
  if (guard_) forget_range(*guard_);
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      guard_(std::exchange(other.guard_, std::nullopt)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(guard_, other.guard_);
  return *this;
}

void MappedFile::check() const {
  if (guard_ && range_was_lost(*guard_)) throw was_cut_short(path_);
}

void MappedFile::release(std::span<const std::byte> part) const {
  // What was read at once has nothing behind it to be read again from.
  if (!guard_ || part.empty()) return;
  // Whole pages, also those shared with the bytes before and after: what lies there is not lost.
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto into_page = reinterpret_cast<std::uintptr_t>(part.data()) % page;
  ::madvise(const_cast<std::byte*>(part.data()) - into_page, into_page + part.size(), MADV_DONTNEED);
}

std::string read_text_file(const std::filesystem::path& path, std::size_t limit_bytes) {
  const FileDescriptor file(path, kReadOnly);
  if (!file) fail("open", path, errno);
  const std::size_t size = regular_file_size(file, path);
  if (size > limit_bytes) {
    throw Error(ErrorCode::data_loss, fmt::format("{} is {} bytes, more than the {} expected of such a file",
                                                  path.string(), size, limit_bytes))
        .at(path.string());
  }
  std::string text(size, '\0');
  text.resize(read_some(file, text, path));  // less where it shrank meanwhile
  return text;
}

std::string read_file_start(const std::filesystem::path& path, std::size_t count) {
  const FileDescriptor file(path, kReadOnly);
  if (!file) fail("open", path, errno);
  std::string text(std::min(count, regular_file_size(file, path)), '\0');
  text.resize(read_some(file, text, path));
  return text;
}

void write_file_atomically(const std::filesystem::path& given, FilePieces pieces) {
  if (is_device_or_pipe(given)) {
    const FileDescriptor device(given, O_WRONLY);
    if (!device) fail("write", given, errno);
    return write_all(device, pieces, given);
  }
  const std::filesystem::path path = followed(given);
  UnfinishedFile unfinished(path);
  write_all(unfinished.file(), pieces, path);
  unfinished.move_into_place();
  flush_folder_of(path);
}

void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  write_file_atomically(path, FilePieces(&bytes, 1));
}

bool is_unfinished_file(const std::filesystem::path& path) {
  const std::string digits = path.stem().extension().string();  // with its dot
  return path.extension() == ".tmp" && digits.size() == kRandomDigits + 1 &&
         digits.find_first_not_of("0123456789abcdef", 1) == std::string::npos;
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

void append_to_file(const std::filesystem::path& path, std::string_view text) {
  FileDescriptor file;
  const int error = change(FileChange::create, path, [&] {
    file.open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
    return file ? 0 : -1;
  });
  if (error != 0) fail("write", path, error);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  write_all(file, {&bytes, 1}, path);
}

void rename_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  const int error = change(FileChange::rename, to, [&] { return ::rename(from.c_str(), to.c_str()); });
  if (error != 0) fail("rename", from, error);
  flush_folder_of(to);
}

bool remove_file(const std::filesystem::path& path) {
  const int error = change(FileChange::remove, path, [&] { return ::unlink(path.c_str()); });
  if (error != 0 && error != ENOENT) fail("remove", path, error);
  return error == 0;
}

void cut_file(const std::filesystem::path& path, std::size_t bytes) {
  const int error =
      change(FileChange::cut, path, [&] { return ::truncate(path.c_str(), static_cast<off_t>(bytes)); });
  if (error != 0) fail("cut", path, error);
}

WorkFolder::WorkFolder(const std::filesystem::path& parent, const std::string& beginning) {
  std::string name = (std::filesystem::absolute(parent) / (beginning + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) fail("make a folder in", parent, errno);
  path_ = name;
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
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

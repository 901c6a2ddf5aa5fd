#include "base/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "dfrost/error.h"

namespace dfrost {
namespace {

// What `ls -l /proc/PID/fd` and /proc/PID/smaps show of it.
constexpr const char* kShownName = "dfrost-shared";

std::string words_of(int error) { return std::generic_category().message(error); }

Error cannot_make(int error) {
  return {ErrorCode::resource_exhausted,
          fmt::format("there is no memory to share with other processes: {}", words_of(error))};
}

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

std::uint64_t new_token() {
  std::uint64_t token = 0;
  // So few bytes come whole, once the system has started.
  while (::getrandom(&token, sizeof token, 0) != static_cast<ssize_t>(sizeof token)) {
  }
  return token;
}

std::shared_ptr<std::byte> map(int file, std::size_t offset, std::size_t bytes, int access) {
  void* const data = ::mmap(nullptr, bytes, access, MAP_SHARED, file, static_cast<off_t>(offset));
  if (data == MAP_FAILED) throw cannot_make(errno);
  ::madvise(data, bytes, MADV_HUGEPAGE);  // only advice: most systems have none of them for shared memory
  return {static_cast<std::byte*>(data), [bytes](std::byte* mapped) { ::munmap(mapped, bytes); }};
}

}  // namespace

SharedMemory::SharedMemory()
    : file_(::memfd_create(kShownName, MFD_CLOEXEC | MFD_ALLOW_SEALING)),
      token_(new_token()),
      process_(::getpid()),
      descriptor_(file_) {
  if (file_ < 0) throw cannot_make(errno);
  // Nobody can take away what others have mapped.
  if (::pwrite(file_, &token_, sizeof token_, 0) != static_cast<ssize_t>(sizeof token_) ||
      ::fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    const int error = errno;
    ::close(file_);
    throw cannot_make(error);
  }
  size_ = whole_pages(sizeof token_);
}

SharedMemory::SharedMemory(const Address& address)
    : file_(::open(fmt::format("/proc/{}/fd/{}", address.process, address.descriptor).c_str(),
                   O_RDONLY | O_CLOEXEC | O_NONBLOCK)),
      token_(address.token),
      process_(address.process),
      descriptor_(address.descriptor) {
  const int error = errno;
  std::uint64_t found = 0;
  if (file_ >= 0 && ::pread(file_, &found, sizeof found, 0) == static_cast<ssize_t>(sizeof found) &&
      found == token_)
    return;
  const std::string why = file_ < 0 ? words_of(error) : "it is another's";
  if (file_ >= 0) ::close(file_);
  throw Error(ErrorCode::unavailable,
              fmt::format("the memory of process {} cannot be reached: {}", address.process, why));
}

SharedMemory::~SharedMemory() { ::close(file_); }

SharedMemory::Address SharedMemory::address() const { return {process_, descriptor_, token_}; }

SharedMemory::Piece SharedMemory::add(std::size_t bytes) {
  std::size_t offset = 0;
  {
    const std::lock_guard lock(mutex_);
    offset = size_;
    size_ += whole_pages(bytes);
  }
  // Taken now: a page that is not there when it is written to would end the process.
  int error = 0;
  do {
    error = ::posix_fallocate(file_, static_cast<off_t>(offset), static_cast<off_t>(whole_pages(bytes)));
  } while (error == EINTR);
  if (error != 0) throw cannot_make(error);
  return {offset, map(file_, offset, bytes, PROT_READ | PROT_WRITE)};
}

std::shared_ptr<std::byte> SharedMemory::at(std::size_t offset, std::size_t bytes) const {
  const off_t end = ::lseek(file_, 0, SEEK_END);
  if (end < 0 || bytes > static_cast<std::size_t>(end) || offset > static_cast<std::size_t>(end) - bytes)
    throw Error(ErrorCode::internal, "no such piece of shared memory");
  return map(file_, offset, bytes, PROT_READ);
}

}  // namespace dfrost

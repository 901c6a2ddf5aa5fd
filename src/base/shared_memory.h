// Memory that processes of one host have in common: one makes it and fills it, others map what is in it, to
// read it alone. It has no name in any file system, and is gone with the last process that holds it, however
// that one ends. Threads may add pieces at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace dfrost {

class SharedMemory {
 public:
  // By which another process of the host finds it, as long as the one that made it holds it.
  struct Address {
    int process = 0;
    int descriptor = 0;
    std::uint64_t token = 0;  // stands at its beginning: process ids are used again, and mean another process
                              // in another container
  };

  // Makes an empty one.
  SharedMemory();
  // Opens another process's. Throws (unavailable) where it cannot be reached.
  explicit SharedMemory(const Address& address);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  Address address() const;

  // Zeros, which begin at a page, and stay where they are until nobody holds them, be this object there or
  // not. For who made it. Throws (resource_exhausted) where there is no memory left.
  struct Piece {
    std::size_t offset = 0;
    std::shared_ptr<std::byte> data;
  };
  Piece add(std::size_t bytes);
  // A piece that its maker has added, to be read alone.
  std::shared_ptr<std::byte> at(std::size_t offset, std::size_t bytes) const;

 private:
  int file_ = -1;
  std::uint64_t token_ = 0;
  int process_ = 0;     // that made it,
  int descriptor_ = 0;  // and by which it is known there
  std::mutex mutex_;
  std::size_t size_ = 0;
};

}  // namespace dfrost

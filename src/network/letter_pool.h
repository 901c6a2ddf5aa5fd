// Memory of letters that everybody has read, for those of the next round. Freed, the letters of many clients
// leave as many holes among what stays, and the system's allocator, when next asked, goes through them one by
// one, each long out of the processor's cache (docs/performance.md, "A hundred thousand clients").
// Threads: any number of them take at once, and let go.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace dfrost {

class LetterPool {
 public:
  // Larger ones go back to the system: they are few, or too many to keep.
  static constexpr std::size_t kLargestKept = std::size_t{64} << 10;

  // An empty letter, with room where there is one that was let go. It may outlive the pool.
  std::shared_ptr<std::vector<std::byte>> take() const;

 private:
  struct Shelf {
    std::mutex mutex;
    std::size_t made = 0;
    std::vector<std::unique_ptr<std::vector<std::byte>>> letters;  // has room for all that were made
  };

  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace dfrost

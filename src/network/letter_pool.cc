#include "network/letter_pool.h"

#include <algorithm>
#include <utility>

namespace dfrost {

std::shared_ptr<std::vector<std::byte>> LetterPool::take() const {
  std::unique_ptr<std::vector<std::byte>> letter;
  {
    const std::lock_guard lock(shelf_->mutex);
    auto& kept = shelf_->letters;
    if (!kept.empty()) {
      letter = std::move(kept.back());
      kept.pop_back();
    } else {
      letter = std::make_unique<std::vector<std::byte>>();
      // Now: a letter that comes back must not have to ask for memory.
      if (++shelf_->made > kept.capacity()) kept.reserve(std::max(shelf_->made, 2 * kept.capacity()));
    }
  }
  const auto put_back = [shelf = shelf_](std::vector<std::byte>* read) {
    std::unique_ptr<std::vector<std::byte>> returned(read);
    if (returned->capacity() > kLargestKept) *returned = std::vector<std::byte>();
    returned->clear();
    const std::lock_guard lock(shelf->mutex);
    shelf->letters.push_back(std::move(returned));
  };
  return {letter.release(), put_back};
}

}  // namespace dfrost

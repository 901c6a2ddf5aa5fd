#include "fuzz/counted_memory.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> held{0};
std::atomic<std::size_t> most{0};

}  // namespace

void* operator new(std::size_t size) {
  void* block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  const std::size_t usable = malloc_usable_size(block);
  most.store(std::max(most.load(), held.fetch_add(usable) + usable));
  return block;
}

void operator delete(void* block) noexcept {
  if (block != nullptr) held.fetch_sub(malloc_usable_size(block));
  std::free(block);
}

void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

namespace dfrost::test {

std::size_t held_bytes() { return held; }
std::size_t most_held_bytes() { return most; }
void reset_most_held() { most.store(held); }

}  // namespace dfrost::test

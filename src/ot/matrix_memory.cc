#include "ot/matrix_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace dfrost {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

}  // namespace

void MatrixMemory::Free::operator()(std::byte* chunk) const { std::free(chunk); }

void* MatrixMemory::take(void* self, std::size_t bytes) {
  auto& memory = *static_cast<MatrixMemory*>(self);
  if (bytes > memory.left_) {
    const std::size_t size = whole_pages(bytes);
    memory.chunks_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(kHugePage, size)));
    memory.next_ = memory.chunks_.back().get();
    if (memory.next_ == nullptr) throw std::bad_alloc();
    memory.left_ = size;
    ::madvise(memory.next_, size, MADV_HUGEPAGE);  // only advice: may be refused
  }
  std::byte* const taken = memory.next_;
  memory.next_ += bytes;
  memory.left_ -= bytes;
  return taken;
}

}  // namespace dfrost

// operator new over malloc, for the executable alone. The allocator that it is linked with brings one of its
// own which, being C, ends the process where memory is short; this one throws std::bad_alloc as the standard
// asks, and who asked for too much gets an error (docs/decisions/102-an-allocator-for-many-clients.md).
#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

// Until `allocate` has it, or nobody can make room any more.
template <class Allocate>
void* or_throw(Allocate allocate) {
  while (true) {
    if (void* const memory = allocate()) return memory;
    const std::new_handler make_room = std::get_new_handler();
    if (make_room == nullptr) throw std::bad_alloc();
    make_room();
  }
}

void* allocate(std::size_t bytes) {
  return or_throw([=] { return std::malloc(std::max<std::size_t>(bytes, 1)); });
}

void* allocate_aligned(std::size_t bytes, std::align_val_t alignment) {
  const auto multiple = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
  return or_throw([=]() -> void* {
    void* memory = nullptr;
    return ::posix_memalign(&memory, multiple, std::max<std::size_t>(bytes, 1)) == 0 ? memory : nullptr;
  });
}

}  // namespace

// The others (arrays, nothrow, sized) are made of these by the standard library.
void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_aligned(bytes, alignment);
}
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_aligned(bytes, alignment);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(std::max<std::size_t>(bytes, 1));
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(std::max<std::size_t>(bytes, 1));
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

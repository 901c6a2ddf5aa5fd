// Memory for matrices that live and die together and are passed over again and again: it lies in huge pages
// where the system has them, since megabytes in small ones wait for the TLB. It must outlive its matrices.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace dfrost {

class MatrixMemory {
 public:
  // As Highway's allocators call it, with the memory itself as `self`. Nothing is given back before the end.
  static void* take(void* self, std::size_t bytes);
  static void give_back(void* /*self*/, void* /*bytes*/) {}

 private:
  struct Free {
    void operator()(std::byte* chunk) const;
  };

  std::vector<std::unique_ptr<std::byte, Free>> chunks_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;  // bytes from there
};

}  // namespace dfrost

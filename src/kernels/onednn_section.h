// Around whatever calls oneDNN, one inside another if need be: what the calling thread must be for as long.
//
// One thread a product: oneDNN would start OpenMP threads inside each, but ours are already busy, one per
// client or chunk, and a product cut among threads need not round as it does on one.
//
// No signal handler: while oneDNN's older products run, the stack pointer points into the heap, and the frame
// of a handler would be written there (uxlfoundation/oneDNN#4845, mended in 3.11, after Debian 12). A signal
// that comes meanwhile waits, or goes to another thread.
#pragma once

#include <cstddef>

namespace dfrost {

class OneDnnSection {
 public:
  OneDnnSection() {
    if (depth_++ == 0) enter();
  }
  ~OneDnnSection() {
    if (--depth_ == 0) leave();
  }
  OneDnnSection(const OneDnnSection&) = delete;
  OneDnnSection& operator=(const OneDnnSection&) = delete;

 private:
  static void enter();
  static void leave();

  inline static thread_local std::size_t depth_ = 0;
};

}  // namespace dfrost

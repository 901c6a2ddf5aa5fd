// What all threads that read picture files may take together while they decode, so that a folder of many huge
// pictures costs no more than one of them. Pictures wait for each other only when they are large.
#pragma once

#include <cstddef>

namespace dfrost {

// While one lives, the pictures that its thread decodes count; what they took is given back at its end.
class DecodingShare {
 public:
  DecodingShare();
  ~DecodingShare();
  DecodingShare(const DecodingShare&) = delete;
  DecodingShare& operator=(const DecodingShare&) = delete;

  // Waits until there is room, or nobody else is decoding. Without a share on this thread, nothing happens.
  static void take(std::size_t bytes);

 private:
  std::size_t taken_ = 0;
};

}  // namespace dfrost

// What every reader of pictures is given.
#pragma once

#include <cstddef>

#include "base/thread_pool.h"
#include "dfrost/image.h"

namespace dfrost {

struct ReadOptions {
  ThreadPool* pool = nullptr;  // decodes files side by side; nullptr: the calling thread alone
  // One data set may take this much memory; beyond it, reading is refused rather than swapped.
  std::size_t memory_limit_bytes = std::size_t{16} << 30;
  ExifOrientation exif = ExifOrientation::apply;
};

inline void parallel_for(const ReadOptions& options, std::size_t count, const ThreadPool::Body& body) {
  if (options.pool != nullptr) return options.pool->parallel_for(count, body);
  for (std::size_t i = 0; i < count; ++i) body(i, 0);
}

}  // namespace dfrost

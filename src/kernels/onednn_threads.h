// oneDNN would start OpenMP threads inside each product. Ours are already busy, one per client or chunk, and
// a product cut among threads need not round as it does on one.
#pragma once

#include <omp.h>

namespace dfrost {

inline void keep_onednn_on_this_thread() {
  thread_local const bool done = (omp_set_num_threads(1), true);
  static_cast<void>(done);
}

}  // namespace dfrost

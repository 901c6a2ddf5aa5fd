// The pool of threads, which is public, and how large one should be.
#pragma once

#include <cstddef>

#include "dfrost/threads.h"

namespace dfrost {

// How many threads this process may run at once (its CPU affinity, not the machine's size).
std::size_t available_threads();

}  // namespace dfrost

// What the system says about this process.
#pragma once

#include <cstddef>

namespace dfrost {

// Memory in RAM now, and the most it ever was. 0 where the system does not say.
std::size_t resident_bytes();
std::size_t peak_resident_bytes();

// Of the processor, by all threads.
double processor_seconds();

// Since the process was started, its loading included.
double seconds_since_start();

}  // namespace dfrost

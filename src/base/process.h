// What the system says about this process.
#pragma once

#include <cstddef>

namespace dfrost {

// Memory in RAM now, and the most it ever was. 0 where the system does not say.
std::size_t resident_bytes();
std::size_t peak_resident_bytes();

// Of the processor, by all threads.
double processor_seconds();

// Pages that the system had to hand out, or hand out again, since the process was started.
std::size_t page_faults();

// Since the process was started, its loading included.
double seconds_since_start();

}  // namespace dfrost

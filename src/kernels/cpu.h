// What the processor under us can do, asked once. AMX is believed only after a trial product: hypervisors may
// hide CPUID leaves, and the kernel must grant the tile registers to the process first.
// Everything here may be called from any thread.
#pragma once

#include <string>

namespace dfrost {

// Whether AMX tiles work here in bf16. The first call may take a SIGILL of its own making.
bool amx_bf16_usable();

// For reports: the processor's name and the vector instructions that matter here.
std::string cpu_summary();

// Makes amx_bf16_usable() answer `usable` while it lives: a test that emulates the tiles says so with it, and
// a test of the way without them too.
class ScopedAmxForTesting {
 public:
  explicit ScopedAmxForTesting(bool usable);
  ~ScopedAmxForTesting();
  ScopedAmxForTesting(const ScopedAmxForTesting&) = delete;
  ScopedAmxForTesting& operator=(const ScopedAmxForTesting&) = delete;

 private:
  int previous_;
};

}  // namespace dfrost

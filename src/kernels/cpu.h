// What the processor under us can do, asked once. AMX is believed only after a trial product: hypervisors may
// hide CPUID leaves, and the kernel must grant the tile registers to the process first.
// Everything here may be called from any thread.
#pragma once

#include <string>

namespace dfrost {

// What multiplies bf16 numbers here.
enum class Bf16Unit {
  none,
  pairs,  // AVX-512's dot products of pairs (AVX512_BF16)
  tiles,  // AMX
};

// The fastest one that works. The first call may take a SIGILL of its own making.
Bf16Unit bf16_unit();
inline bool bf16_usable() { return bf16_unit() != Bf16Unit::none; }

// Whether products in bf16 are faster here than in fp32. By what the processor is, not by the clock: what a
// run computes must not depend on how busy the machine was.
bool bf16_is_faster();

// For reports: the processor's name and the vector instructions that matter here.
std::string cpu_summary();

// Makes bf16_unit() answer `unit` while it lives: a test that emulates the tiles says so with it, and a test
// of the way without bf16 too.
class ScopedBf16UnitForTesting {
 public:
  explicit ScopedBf16UnitForTesting(Bf16Unit unit);
  ~ScopedBf16UnitForTesting();
  ScopedBf16UnitForTesting(const ScopedBf16UnitForTesting&) = delete;
  ScopedBf16UnitForTesting& operator=(const ScopedBf16UnitForTesting&) = delete;

 private:
  int previous_;
};

}  // namespace dfrost

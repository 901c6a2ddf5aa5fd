#include "kernels/cpu.h"

#include <cpuid.h>
#include <fmt/format.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

#include "kernels/tile.h"

namespace dfrost {
namespace {

// -1: ask the machine; else the Bf16Unit that a test wants to hear of.
std::atomic<int> forced_answer = -1;

bool cpuid_has_amx_bf16() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  constexpr unsigned kAmxBf16 = 1u << 22, kAmxTile = 1u << 24;
  return (edx & kAmxBf16) != 0 && (edx & kAmxTile) != 0;
}

// Tile data is an optional part of the saved register state: Linux (5.16 and later) enlarges it on request.
bool kernel_grants_tiles() {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;               // XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

thread_local sigjmp_buf trial_failed;
thread_local bool trial_under_way = false;
struct sigaction before_trial;

void on_illegal_instruction(int) {
  if (trial_under_way) siglongjmp(trial_failed, 1);
  // Another thread's fault, of another cause: let it happen again under the handler that was there.
  ::sigaction(SIGILL, &before_trial, nullptr);
}

bool trial_product_works() {
  struct sigaction guard {};
  guard.sa_handler = on_illegal_instruction;
  sigemptyset(&guard.sa_mask);
  if (::sigaction(SIGILL, &guard, &before_trial) != 0) return false;
  volatile bool works = false;
  trial_under_way = true;
  if (sigsetjmp(trial_failed, 1) == 0) works = tile_trial_product_is_right();
  trial_under_way = false;
  ::sigaction(SIGILL, &before_trial, nullptr);
  return works;
}

Bf16Unit ask_the_machine() {
  if (cpuid_has_amx_bf16() && kernel_grants_tiles() && trial_product_works()) return Bf16Unit::tiles;
  return __builtin_cpu_supports("avx512bf16") ? Bf16Unit::pairs : Bf16Unit::none;
}

std::string_view words_for(Bf16Unit unit) {
  switch (unit) {
    case Bf16Unit::none: return "no bf16";
    case Bf16Unit::pairs: return "AVX-512 bf16";
    case Bf16Unit::tiles: return "AMX bf16";
  }
  return "no bf16";
}

}  // namespace

Bf16Unit bf16_unit() {
  const int forced = forced_answer.load(std::memory_order_relaxed);
  if (forced >= 0) return static_cast<Bf16Unit>(forced);
  static const Bf16Unit unit = ask_the_machine();
  return unit;
}

bool bf16_is_faster() {
  switch (bf16_unit()) {
    case Bf16Unit::none: return false;
    case Bf16Unit::tiles: return true;
    // One a cycle is twice AMD's rate in fp32 and no more than Intel's.
    case Bf16Unit::pairs: return __builtin_cpu_is("amd") != 0;
  }
  return false;
}

std::string cpu_summary() {
  std::string name = "x86-64";
  std::array<unsigned, 12> words{};
  bool named = true;
  for (unsigned i = 0; i < 3; ++i) {
    unsigned* w = words.data() + std::size_t{4} * i;
    named = named && __get_cpuid(0x80000002u + i, w, w + 1, w + 2, w + 3) != 0;
  }
  if (named) {
    std::array<char, sizeof(words) + 1> text{};
    std::memcpy(text.data(), words.data(), sizeof(words));
    name = text.data();
    name.erase(name.find_last_not_of(' ') + 1);
  }
  const char* vectors = __builtin_cpu_supports("avx512f") ? "AVX-512"
                        : __builtin_cpu_supports("avx2")  ? "AVX2"
                                                          : "SSE";
  return fmt::format("{}, {}, {}", name, vectors, words_for(bf16_unit()));
}

ScopedBf16UnitForTesting::ScopedBf16UnitForTesting(Bf16Unit unit)
    : previous_(forced_answer.exchange(static_cast<int>(unit))) {}
ScopedBf16UnitForTesting::~ScopedBf16UnitForTesting() { forced_answer.store(previous_); }

}  // namespace dfrost

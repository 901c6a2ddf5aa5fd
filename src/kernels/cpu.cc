#include "kernels/cpu.h"

#include <cpuid.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>

#include "kernels/tile.h"

namespace dfrost {
namespace {

// -1: ask the machine; 0 and 1: what a test wants to hear.
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

}  // namespace

bool amx_bf16_usable() {
  const int forced = forced_answer.load(std::memory_order_relaxed);
  if (forced >= 0) return forced == 1;
  static const bool usable = cpuid_has_amx_bf16() && kernel_grants_tiles() && trial_product_works();
  return usable;
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
  return name + ", " + vectors + (amx_bf16_usable() ? ", AMX bf16" : ", no AMX");
}

ScopedAmxForTesting::ScopedAmxForTesting(bool usable) : previous_(forced_answer.exchange(usable ? 1 : 0)) {}
ScopedAmxForTesting::~ScopedAmxForTesting() { forced_answer.store(previous_); }

}  // namespace dfrost

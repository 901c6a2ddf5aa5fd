#include "base/bus_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

namespace dfrost {
namespace {

// Read by the signal handler, so it neither locks nor allocates.
struct GuardedRange {
  std::atomic<std::uintptr_t> first = 0;  // 0: free
  std::atomic<std::size_t> bytes = 0;
  std::atomic<bool> lost = false;
};

constexpr std::size_t kMostRanges = 1024;
std::array<GuardedRange, kMostRanges> guarded;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::mutex changing;                            // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
struct sigaction handler_before {};             // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::uintptr_t page_bytes = 4096;               // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// From the page that failed to the end of its range there are zeros from now on.
bool fill_with_zeros(GuardedRange& range, std::uintptr_t address) {
  const std::uintptr_t first = range.first;
  const std::uintptr_t end = first + range.bytes;
  if (first == 0 || address < first || address >= end) return false;
  range.lost = true;
  const std::uintptr_t page = address - address % page_bytes;
  return ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                -1, 0) != MAP_FAILED;
}

void on_bus_error(int, siginfo_t* info, void*) {
  const int error = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (GuardedRange& range : guarded) {
    if (!fill_with_zeros(range, address)) continue;
    errno = error;
    return;
  }
  // Not about us: the read happens again, and is answered as if we were not here.
  ::sigaction(SIGBUS, &handler_before, nullptr);
}

void install_handler() {
  page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction ours {};
  ours.sa_sigaction = on_bus_error;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  ::sigaction(SIGBUS, &ours, &handler_before);
}

}  // namespace

std::optional<std::size_t> guard_range(const void* first, std::size_t bytes) {
  static std::once_flag installed;
  std::call_once(installed, install_handler);
  const std::lock_guard lock(changing);
  for (std::size_t place = 0; place < guarded.size(); ++place) {
    GuardedRange& range = guarded[place];
    if (range.first != 0) continue;
    range.lost = false;
    range.bytes = bytes;
    range.first = reinterpret_cast<std::uintptr_t>(first);  // last: only now does the handler look at it
    return place;
  }
  return std::nullopt;
}

bool range_was_lost(std::size_t place) { return guarded[place].lost; }

void forget_range(std::size_t place) {
  const std::lock_guard lock(changing);
  guarded[place].first = 0;
}

}  // namespace dfrost

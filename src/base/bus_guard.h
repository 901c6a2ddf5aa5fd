// A mapped file that somebody cuts short, or whose disk fails, answers a read with SIGBUS, which ends the
// process. For the ranges registered here the read gives zeros instead, and the range is marked: whoever read
// asks afterwards. The handler is installed with the first range and passes on what is not about one of them.
// Thread-safe.
#pragma once

#include <cstddef>
#include <optional>

namespace dfrost {

// The place of a range in the table; nothing where the table is full.
std::optional<std::size_t> guard_range(const void* first, std::size_t bytes);

// True once a read in the range found nothing behind it.
bool range_was_lost(std::size_t place);

// Before the range is unmapped.
void forget_range(std::size_t place);

}  // namespace dfrost

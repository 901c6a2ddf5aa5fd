// What operator new has handed out in this program; linking counted_memory.cc replaces it.
#pragma once

#include <cstddef>

namespace dfrost::test {

std::size_t held_bytes();
std::size_t most_held_bytes();  // since reset_most_held()
void reset_most_held();

}  // namespace dfrost::test

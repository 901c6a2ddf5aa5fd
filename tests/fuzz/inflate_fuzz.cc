// Any bytes inflate to something bounded or give an Error.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "data/inflate.h"
#include "dfrost/error.h"

// The buffer and, while it grows, the one before it.
std::size_t fuzz_memory_bound(std::size_t input_bytes) {
  return 2 * std::max(dfrost::kFreeInflationBytes, dfrost::kMaxInflation * input_bytes) + 8192;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto bytes = dfrost::inflate_bytes(std::as_bytes(std::span(data, size)), "fuzz");
    if (bytes.size() > std::max(dfrost::kFreeInflationBytes, dfrost::kMaxInflation * size)) std::abort();
  } catch (const dfrost::Error&) {
  }
  return 0;
}

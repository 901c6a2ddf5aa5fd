// Any bytes give SVHN's pictures or an Error.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "data/inflate.h"
#include "data/svhn.h"
#include "dfrost/error.h"

// Compressed variables inflate (bounded, see inflate.h), become arrays and then pictures.
std::size_t fuzz_memory_bound(std::size_t input_bytes) {
  return 5 * std::max(dfrost::kFreeInflationBytes, dfrost::kMaxInflation * input_bytes) + 8192;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto set = dfrost::parse_svhn_mat(std::as_bytes(std::span(data, size)), "fuzz");
    for (const int label : set.labels) {
      if (label < 0 || label > 9) std::abort();
    }
  } catch (const dfrost::Error&) {
  }
  return 0;
}

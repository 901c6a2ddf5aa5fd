// CIFAR's records and the label list of its PNG form: any bytes give labels in range or an Error.

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "data/cifar.h"
#include "dfrost/error.h"

// A JSON value of two bytes ("1,") is 16 in memory, an empty text or list 48, in a vector that doubles.
std::size_t fuzz_memory_bound(std::size_t input_bytes) { return 64 * input_bytes + 16'384; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto set = dfrost::parse_cifar_records(std::span(data, size), "fuzz", 10);
    for (const int label : set.labels) {
      if (label < 0 || label > 9) std::abort();
    }
  } catch (const dfrost::Error&) {
  }
  try {
    for (const int label :
         dfrost::parse_label_json({reinterpret_cast<const char*>(data), size}, "fuzz", 10)) {
      if (label < 0 || label > 9) std::abort();
    }
  } catch (const dfrost::Error&) {
  }
  return 0;
}

// Any bytes give tensors that lie within them, or an Error.

#include <cstdint>
#include <span>

#include "base/safetensors.h"
#include "fuzz/use_tensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto bytes = std::as_bytes(std::span(data, size));
    dfrost::fuzz::use_tensors(dfrost::parse_safetensors(bytes, "fuzz").tensors, size);
  } catch (const dfrost::Error&) {
  }
  return 0;
}

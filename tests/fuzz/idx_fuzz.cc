// Any two files give pictures or an Error. The first two bytes of the input say where the labels end.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "data/idx.h"
#include "data/inflate.h"
#include "dfrost/error.h"

std::size_t fuzz_memory_bound(std::size_t input_bytes) { return 40 * input_bytes + 8192; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t cut = std::min<std::size_t>(size - 2, std::size_t{data[0]} << 8 | data[1]);
  const std::vector<std::uint8_t> labels(data + 2, data + 2 + cut);
  std::vector<std::uint8_t> images(data + 2 + cut, data + size);
  try {
    const auto set = dfrost::parse_idx(std::move(images), "images", labels, "labels", 10);
    for (const auto& record : set.records) {
      if (record.offset + record.size > set.bytes.size()) std::abort();
    }
  } catch (const dfrost::Error&) {
  }
  return 0;
}

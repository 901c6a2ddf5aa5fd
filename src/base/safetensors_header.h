// The JSON header of a safetensors file, read event by event: nothing is built that the format does not
// allow, so that a hostile header costs no more memory than its own length.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/tensor.h"

namespace dfrost {

struct SafetensorsEntry {
  std::optional<TensorType> type;
  std::optional<Shape> shape;
  std::optional<std::vector<std::size_t>> offsets;  // begin and end, once the header is read
};

struct SafetensorsHeader {
  std::map<std::string, SafetensorsEntry, std::less<>> entries;  // each complete
  std::map<std::string, std::string, std::less<>> metadata;
};

// Throws Error (data_loss, or unimplemented for an unknown dtype) that names the tensor; the place is the
// caller's to add.
SafetensorsHeader parse_safetensors_header(std::string_view json);

}  // namespace dfrost

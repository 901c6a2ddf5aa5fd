// PyTorch's .pth archives (torch.save since 1.6): a zip of a pickled state dict and one file per storage.
// Read without executing anything (backbone/pickle.h); tensors are views into the file. A state dict one
// level down, under "model" or "state_dict", is found too.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/tensor.h"

namespace dfrost {

// Element (i, j, …) stands i·strides[0] + j·strides[1] + … elements into `bytes`, which holds all of them.
// There are never more elements than the storage has, so that a broadcast view cannot ask for endless memory.
struct PthTensor {
  TensorType type = TensorType::f32;
  Shape shape;
  Shape strides;
  std::span<const std::byte> bytes;
};

using PthTensors = std::map<std::string, PthTensor, std::less<>>;

// `place` is where errors say they happened.
PthTensors parse_pth(std::span<const std::byte> archive, const std::string& place);

// Row-major, whatever the strides; see read_floats of base/tensor.h.
void read_floats(const PthTensor& tensor, std::string_view name, std::span<float> values);

}  // namespace dfrost

// What a program does with the tensors of a file that it did not make: reads each, and asks whether together
// they are a vision transformer. Memory must stay in proportion to the file.
#pragma once

#include <cstdlib>
#include <vector>

#include "backbone/checkpoint_layout.h"
#include "dfrost/error.h"

namespace dfrost::fuzz {

// `tensors`: name -> TensorView or PthTensor.
template <typename Tensors>
void use_tensors(const Tensors& tensors, std::size_t file_bytes) {
  TensorDescriptions descriptions;
  for (const auto& [name, tensor] : tensors) {
    descriptions[name] = {tensor.type, tensor.shape};
    const auto count = element_count(tensor.shape);
    if (!count || *count > file_bytes) std::abort();
    std::vector<float> values(*count);
    try {
      read_floats(tensor, name, values);
    } catch (const Error&) {  // integers, say
    }
  }
  infer_layout(descriptions, {}, 0);
}

}  // namespace dfrost::fuzz

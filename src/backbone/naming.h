// The names that three families of software give to the tensors of one and the same vision transformer, as
// data: a stem plus "weight" or "bias" is a tensor's name.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backbone/tensor_store.h"

namespace dfrost {

// built_in: no software saved it, dfrost itself has it.
enum class Family { hugging_face, timm, torchvision, built_in };

std::string_view to_string(Family family);  // "Hugging Face", "timm", "torchvision", "dfrost"

struct Naming {
  Family family = Family::timm;
  std::string patch;
  std::string class_token;         // whole names, not stems
  std::string distillation_token;  // empty: the family has none
  std::string positions;
  std::string block;  // "blocks.": the block's index and a dot follow, then one of these:
  std::string norm1;
  std::vector<std::string> qkv;  // one stem, or three whose tensors stand below each other
  std::string projection;
  std::string norm2;
  std::string fc1;
  std::string fc2;
  std::string final_norm;
  std::vector<std::string>
      heads;  // of the CLS token, and of the distillation token; those that exist are read
  std::vector<std::string> ignored;  // beginnings of names that take no part in the features

  std::string in_block(std::size_t index, std::string_view stem) const;
};

// Nothing when the tensors are not those of a vision transformer in any family.
std::optional<Naming> detect_naming(const TensorDescriptions& tensors);

}  // namespace dfrost

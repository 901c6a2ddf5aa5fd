// The tensors of a checkpoint, ticked off as a model asks for them: what is missing, mis-shaped, not a float
// or left over in the end is an Error naming it.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "backbone/tensor_store.h"

namespace dfrost {

class TensorInventory {
 public:
  explicit TensorInventory(const TensorDescriptions& tensors) : tensors_(tensors) {}

  // The shape of a tensor that must be there.
  const Shape& take(const std::string& name);
  void take(const std::string& name, const Shape& expected);
  void take_norm(const std::string& stem, std::size_t width);
  void take_linear(const std::string& stem, std::size_t outputs, std::size_t inputs);

  bool has(const std::string& name) const { return tensors_.contains(name); }
  bool has_any_below(const std::string& beginning) const;

  // Throws for a tensor that nobody took, unless its name has one of the `ignored` beginnings. `model`: "a
  // plain vision transformer of 12 blocks".
  void refuse_leftovers(const std::vector<std::string>& ignored, const std::string& model) const;

  // Of the tensors taken.
  std::size_t parameters() const { return parameters_; }
  const std::set<TensorType>& types() const { return types_; }

 private:
  const TensorDescriptions& tensors_;
  std::set<std::string> taken_;
  std::set<TensorType> types_;
  std::size_t parameters_ = 0;
};

}  // namespace dfrost

#include "backbone/tensor_inventory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quote.h"
#include "dfrost/error.h"

namespace dfrost {

const Shape& TensorInventory::take(const std::string& name) {
  const auto found = tensors_.find(name);
  if (found == tensors_.end())
    throw Error(ErrorCode::data_loss, fmt::format("tensor {} is missing", quote_name(name)));
  const TensorType type = found->second.type;
  if (type != TensorType::f32 && type != TensorType::f16 && type != TensorType::bf16 &&
      type != TensorType::f64) {
    throw Error(ErrorCode::unimplemented,
                fmt::format("tensor {} holds {} values, expected F32, F16, BF16 or F64", quote_name(name),
                            to_string(type)));
  }
  // A shape may be looked at before its tensor is taken for good; its parameters count once.
  if (taken_.insert(name).second) parameters_ += *element_count(found->second.shape);
  types_.insert(type);
  return found->second.shape;
}

void TensorInventory::take(const std::string& name, const Shape& expected) {
  const Shape& found = take(name);
  if (found == expected) return;
  throw Error(ErrorCode::data_loss, fmt::format("tensor {} has shape {}, expected {}", quote_name(name),
                                                to_string(found), to_string(expected)));
}

void TensorInventory::take_norm(const std::string& stem, std::size_t width) {
  take(stem + "weight", {width});
  take(stem + "bias", {width});
}

void TensorInventory::take_linear(const std::string& stem, std::size_t outputs, std::size_t inputs) {
  take(stem + "weight", {outputs, inputs});
  take(stem + "bias", {outputs});
}

bool TensorInventory::has_any_below(const std::string& beginning) const {
  const auto next = tensors_.lower_bound(beginning);
  return next != tensors_.end() && next->first.starts_with(beginning);
}

// A tensor without a place would have changed what the model computes: leaving it out gives other numbers
// than the model's own, and nobody would notice.
void TensorInventory::refuse_leftovers(const std::vector<std::string>& ignored,
                                       const std::string& model) const {
  for (const auto& [name, tensor] : tensors_) {
    const bool is_ignored =
        std::any_of(ignored.begin(), ignored.end(),
                    [&name = name](const auto& beginning) { return name.starts_with(beginning); });
    if (is_ignored || taken_.contains(name)) continue;
    throw Error(
        ErrorCode::unimplemented, fmt::format("tensor {} has no place in {}", quote_name(name), model),
        "variants of the vision transformer are not supported; take a plain one, such as ViT or DeiT");
  }
}

}  // namespace dfrost

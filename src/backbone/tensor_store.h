// Named tensors on disk, whichever container holds them: one safetensors file, several with an index, or a
// PyTorch archive. Bytes are mapped and read when asked for; a tensor is never larger than its file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/tensor.h"

namespace dfrost {

struct TensorDescription {
  TensorType type = TensorType::f32;
  Shape shape;
};

using TensorDescriptions = std::map<std::string, TensorDescription, std::less<>>;

class TensorStore {
 public:
  virtual ~TensorStore() = default;

  const TensorDescriptions& tensors() const { return tensors_; }
  const std::filesystem::path& path() const { return path_; }
  // Its values as fp32; the name must be one of tensors() and the span as long as its shape says. The mapped
  // pages they came from are given back at once.
  virtual void read(std::string_view name, std::span<float> values) const = 0;
  virtual std::size_t file_bytes() const = 0;

 protected:
  explicit TensorStore(std::filesystem::path path) : path_(std::move(path)) {}
  TensorDescriptions tensors_;

 private:
  std::filesystem::path path_;
};

// `path`: a .safetensors file, a PyTorch archive (told apart by their first bytes, not their names), the
// index of a sharded checkpoint (….index.json), or a folder that holds one of them as Hugging Face lays it
// out. What DataParallel (module.) and torch.compile (_orig_mod.) put before every name is taken off.
std::unique_ptr<TensorStore> open_tensor_store(const std::filesystem::path& path);

}  // namespace dfrost

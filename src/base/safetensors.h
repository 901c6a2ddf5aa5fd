// The safetensors format: u64 little-endian header length, a JSON header, then the tensors' bytes.
//   {"__metadata__": {"key": "text"}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …}
// Offsets count from the end of the header. Reading is strict: header at most 100 MB and inside the file, no
// duplicate keys, each tensor as long as its shape and type say, tensors tiling the data without hole or
// overlap; a violation is an Error (data_loss) that names the tensor and what was expected. Memory used is
// proportional to the header, whatever it claims. Writing is deterministic byte for byte.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/tensor.h"

namespace dfrost {

// The tensors of one file or message; a view into bytes that must outlive it.
struct Safetensors {
  std::map<std::string, TensorView, std::less<>> tensors;
  std::map<std::string, std::string, std::less<>> metadata;

  bool contains(std::string_view name) const { return tensors.find(name) != tensors.end(); }
  // Throws (not_found, with the nearest name as a hint) when absent.
  const TensorView& at(std::string_view name) const;
};

// `place` (a file name, "message from 10.0.0.7") is where errors say they happened.
Safetensors parse_safetensors(std::span<const std::byte> bytes, const std::string& place);

// A mapped file; the tensors' bytes are read from disk when touched.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const Safetensors& content() const { return content_; }
  const MappedFile& file() const { return file_; }

 private:
  MappedFile file_;
  Safetensors content_;
};

// An fp32 tensor to be written; the values are owned elsewhere.
struct FloatTensor {
  std::string name;
  Shape shape;
  std::span<const float> values;
};

// Tensors stand in the order of their names, whatever the order they are given in; the header is padded with
// spaces so that the data starts at a multiple of 8, as the official writer does.
using SafetensorsMetadata = std::map<std::string, std::string, std::less<>>;
std::vector<std::byte> serialize_safetensors(std::span<const FloatTensor> tensors,
                                             const SafetensorsMetadata& metadata = {});
// The same behind what `bytes` holds already.
void append_safetensors(std::span<const FloatTensor> tensors, const SafetensorsMetadata& metadata,
                        std::vector<std::byte>& bytes);
void write_safetensors(const std::filesystem::path& path, std::span<const FloatTensor> tensors,
                       const SafetensorsMetadata& metadata = {});

}  // namespace dfrost

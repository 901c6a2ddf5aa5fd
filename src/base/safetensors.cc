#include "base/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/malformed.h"
#include "base/quote.h"
#include "base/safetensors_header.h"
#include "base/suggest.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kLongestHeader = 100'000'000;

std::string_view header_text(std::span<const std::byte> bytes) {
  if (bytes.size() < kLengthBytes) {
    malformed(fmt::format("{} bytes are too few for a safetensors file, expected at least {}", bytes.size(),
                          kLengthBytes));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kLongestHeader) {
    malformed(fmt::format(
        "the header claims {} bytes, expected at most {}: not a safetensors file, or a damaged one", length,
        kLongestHeader));
  }
  if (length > bytes.size() - kLengthBytes) {
    malformed(fmt::format("the header claims {} bytes, but only {} follow: the file is truncated", length,
                          bytes.size() - kLengthBytes));
  }
  return {reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, static_cast<std::size_t>(length)};
}

TensorView view_of(const std::string& name, SafetensorsEntry& entry, std::span<const std::byte> data) {
  const std::size_t begin = entry.offsets->front();
  const std::size_t end = entry.offsets->back();
  if (begin > end || end > data.size()) {
    malformed(fmt::format("tensor {}: data_offsets [{}, {}] do not lie in the {} bytes of data{}",
                          quote_name(name), begin, end, data.size(),
                          begin > end ? "" : ": the file is truncated"));
  }
  const auto count = element_count(*entry.shape);
  std::size_t expected = 0;
  if (!count || __builtin_mul_overflow(*count, size_of(*entry.type), &expected)) {
    malformed(fmt::format("tensor {}: shape {} is too large", quote_name(name), to_string(*entry.shape)));
  }
  if (end - begin != expected) {
    malformed(fmt::format("tensor {}: data_offsets span {} bytes, expected {} for {} {}", quote_name(name),
                          end - begin, expected, to_string(*entry.type), to_string(*entry.shape)));
  }
  return {*entry.type, std::move(*entry.shape), data.subspan(begin, expected)};
}

// In the order of their offsets each tensor must begin where the one before it ended.
void check_tiling(const Safetensors& content, std::span<const std::byte> data) {
  using Entry = std::pair<const std::string, TensorView>;
  std::vector<const Entry*> in_order;
  in_order.reserve(content.tensors.size());
  for (const auto& entry : content.tensors) in_order.push_back(&entry);
  const auto range = [&](const Entry* entry) {
    const auto begin = static_cast<std::size_t>(entry->second.bytes.data() - data.data());
    return std::pair(begin, begin + entry->second.bytes.size());
  };
  std::sort(in_order.begin(), in_order.end(),
            [&](const auto* a, const auto* b) { return range(a) < range(b); });
  std::size_t reached = 0;
  for (const auto* entry : in_order) {
    const auto [begin, end] = range(entry);
    if (begin != reached) {
      malformed(fmt::format("tensor {} begins at byte {} of the data, expected {}: {}",
                            quote_name(entry->first), begin, reached,
                            begin < reached ? "it overlaps another tensor" : "there is a hole before it"));
    }
    reached = end;
  }
  if (reached != data.size()) {
    malformed(fmt::format(
        "the tensors end at byte {} of the data, expected {}: there are bytes that belong to none", reached,
        data.size()));
  }
}

Safetensors parse(std::span<const std::byte> bytes) {
  const std::string_view text = header_text(bytes);
  auto header = parse_safetensors_header(text);
  const auto data = bytes.subspan(kLengthBytes + text.size());
  Safetensors content;
  content.metadata = std::move(header.metadata);
  for (auto& [name, entry] : header.entries) content.tensors.emplace(name, view_of(name, entry, data));
  check_tiling(content, data);
  return content;
}

std::string json_text(std::string_view text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is not valid UTF-8", quote_name(text)));
  }
}

std::vector<const FloatTensor*> sorted_by_name(std::span<const FloatTensor> tensors) {
  std::vector<const FloatTensor*> sorted;
  for (const auto& tensor : tensors) {
    if (element_count(tensor.shape) != tensor.values.size()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("tensor {} has {} values, which is not shape {}", quote_name(tensor.name),
                              tensor.values.size(), to_string(tensor.shape)));
    }
    if (tensor.name == "__metadata__") {
      throw Error(ErrorCode::invalid_argument, "a tensor cannot be called '__metadata__'");
    }
    sorted.push_back(&tensor);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  const auto twin = std::adjacent_find(sorted.begin(), sorted.end(),
                                       [](const auto* a, const auto* b) { return a->name == b->name; });
  if (twin != sorted.end()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("two tensors are called {}", quote_name((*twin)->name)));
  }
  return sorted;
}

std::string header_of(std::span<const FloatTensor* const> sorted, const SafetensorsMetadata& metadata) {
  std::string header = "{";
  const auto separate = [&header] { header += header.back() == '{' ? "" : ","; };
  if (!metadata.empty()) {
    header += "\"__metadata__\":{";
    for (const auto& [key, value] : metadata) {
      separate();
      header += json_text(key) + ":" + json_text(value);
    }
    header += "}";
  }
  std::size_t offset = 0;
  for (const auto* tensor : sorted) {
    separate();
    const std::size_t end = offset + tensor->values.size_bytes();
    header += fmt::format(R"({}:{{"dtype":"F32","shape":[{}],"data_offsets":[{},{}]}})",
                          json_text(tensor->name), fmt::join(tensor->shape, ","), offset, end);
    offset = end;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return header;
}

// A file's content as it lies in memory: what stands before the tensors, and those.
class Pieces {
 public:
  Pieces(std::span<const FloatTensor> tensors, const SafetensorsMetadata& metadata) {
    const auto sorted = sorted_by_name(tensors);
    const std::string header = header_of(sorted, metadata);
    const std::uint64_t length = header.size();
    opening_.assign(reinterpret_cast<const char*>(&length), kLengthBytes);
    opening_ += header;
    all_.push_back(std::as_bytes(std::span(opening_)));
    for (const auto* tensor : sorted) all_.push_back(std::as_bytes(tensor->values));
  }
  Pieces(const Pieces&) = delete;  // one points to another
  Pieces& operator=(const Pieces&) = delete;

  FilePieces all() const { return all_; }

 private:
  std::string opening_;  // the header's length, and the header
  std::vector<std::span<const std::byte>> all_;
};

}  // namespace

const TensorView& Safetensors::at(std::string_view name) const {
  if (const auto found = tensors.find(name); found != tensors.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& entry : tensors) names.push_back(entry.first);
  const auto near = nearest(name, names);
  throw Error(ErrorCode::not_found, fmt::format("tensor {} is missing", quote_name(name)),
              near ? fmt::format("there is a tensor {}", quote_name(*near)) : std::string());
}

Safetensors parse_safetensors(std::span<const std::byte> bytes, const std::string& place) {
  try {
    return parse(bytes);
  } catch (Error& error) {
    error.at(place);
    throw;
  }
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_(path), content_(parse_safetensors(file_.bytes(), path.string())) {}

std::vector<std::byte> serialize_safetensors(std::span<const FloatTensor> tensors,
                                             const SafetensorsMetadata& metadata) {
  std::vector<std::byte> bytes;
  append_safetensors(tensors, metadata, bytes);
  return bytes;
}

void append_safetensors(std::span<const FloatTensor> tensors, const SafetensorsMetadata& metadata,
                        std::vector<std::byte>& bytes) {
  const Pieces pieces(tensors, metadata);
  std::size_t size = bytes.size();
  for (const auto piece : pieces.all()) size += piece.size();
  bytes.reserve(size);
  for (const auto piece : pieces.all()) bytes.insert(bytes.end(), piece.begin(), piece.end());
}

void write_safetensors(const std::filesystem::path& path, std::span<const FloatTensor> tensors,
                       const SafetensorsMetadata& metadata) {
  write_file_atomically(path, Pieces(tensors, metadata).all());
}

}  // namespace dfrost

#include "onnx/onnx_graph.h"

#include <fmt/format.h>

#include <bit>

#include "base/version.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

// Numbers of onnx.proto.
constexpr std::int64_t kIrVersion = 8, kOpset = 17;
constexpr std::int64_t kFloat = 1, kInt64 = 7;  // TensorProto.DataType
enum AttributeType : std::int64_t { kNumber = 1, kInteger = 2, kIntegers = 7 };

ProtobufMessage tensor(const std::string& name, const OnnxGraph::Sizes& shape, std::int64_t type,
                       std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");
  ProtobufMessage message;
  for (const auto size : shape) message.add(1, size);
  message.add(2, type);
  message.add(8, name);
  message.add(9, bytes);
  return message;
}

template <typename T>
std::string_view raw(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// A ValueInfoProto: the name of a float tensor and its shape.
ProtobufMessage value_info(const std::string& name, const OnnxGraph::Sizes& sizes) {
  ProtobufMessage shape, tensor_type, type, info;
  for (const auto size : sizes) {
    ProtobufMessage dimension;
    if (size < 0) {
      dimension.add(2, "batch");
    } else {
      dimension.add(1, size);
    }
    shape.add(1, dimension);
  }
  tensor_type.add(1, kFloat);
  tensor_type.add(2, shape);
  type.add(1, tensor_type);
  info.add(1, name);
  info.add(2, type);
  return info;
}

ProtobufMessage attribute(const OnnxAttribute& given) {
  ProtobufMessage message;
  message.add(1, given.name);
  if (given.is_list) {
    for (const auto value : given.integers) message.add(8, value);
    message.add(20, kIntegers);
  } else if (!given.integers.empty()) {
    message.add(3, given.integers.front());
    message.add(20, kInteger);
  } else {
    message.add(2, given.number);
    message.add(20, kNumber);
  }
  return message;
}

}  // namespace

void ProtobufMessage::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
  bytes_ += static_cast<char>(value);
}

void ProtobufMessage::add(std::uint32_t field, std::int64_t value) {
  varint(std::uint64_t{field} << 3);
  varint(static_cast<std::uint64_t>(value));
}

void ProtobufMessage::add(std::uint32_t field, float value) {
  varint((std::uint64_t{field} << 3) | 5);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) bytes_ += static_cast<char>((bits >> shift) & 0xff);
}

void ProtobufMessage::add(std::uint32_t field, std::string_view bytes) {
  varint((std::uint64_t{field} << 3) | 2);
  varint(bytes.size());
  bytes_ += bytes;
}

void OnnxGraph::add_input(const std::string& name, const Sizes& shape) {
  graph_.add(11, value_info(name, shape));
}

void OnnxGraph::add_output(const std::string& name, const Sizes& shape) {
  graph_.add(12, value_info(name, shape));
}

std::string OnnxGraph::constant(const std::string& name, const Sizes& shape, std::span<const float> values) {
  graph_.add(5, tensor(name, shape, kFloat, raw(values)));
  return name;
}

std::string OnnxGraph::constant(const std::string& name, const Sizes& shape,
                                std::span<const std::int64_t> values) {
  graph_.add(5, tensor(name, shape, kInt64, raw(values)));
  return name;
}

std::string OnnxGraph::add(std::string_view op, const std::vector<std::string>& inputs,
                           const std::vector<OnnxAttribute>& attributes, std::string output) {
  const std::string name = fmt::format("{}_{}", op, nodes_++);
  if (output.empty()) output = name;
  ProtobufMessage node;
  for (const auto& input : inputs) node.add(1, input);
  node.add(2, output);
  node.add(3, name);
  node.add(4, op);
  for (const auto& one : attributes) node.add(5, attribute(one));
  graph_.add(1, node);
  return output;
}

std::string OnnxGraph::model(const std::map<std::string, std::string>& metadata) const {
  ProtobufMessage graph = graph_, opset, model;
  graph.add(2, "dfrost");
  opset.add(1, "");
  opset.add(2, kOpset);
  model.add(1, kIrVersion);
  model.add(2, "dfrost");
  model.add(3, version());
  model.add(8, opset);
  for (const auto& [key, value] : metadata) {
    ProtobufMessage entry;
    entry.add(1, key);
    entry.add(2, value);
    model.add(14, entry);
  }
  model.add(7, graph);
  constexpr std::size_t kMost = std::size_t{1} << 31;
  if (model.bytes().size() >= kMost)
    throw Error(ErrorCode::unimplemented, "the model is larger than the 2 GB that one ONNX file can hold",
                "use the adapter with dfrost itself, or with dfrost.torch.attach()");
  return model.bytes();
}

}  // namespace dfrost

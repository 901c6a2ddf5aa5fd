// An ONNX graph, written node by node: what a runtime needs of the format (onnx.proto, IR version 8, opset
// 17), encoded as protobuf by hand, since nothing of protobuf but varints and lengths is needed for it.
// Values are named by strings; a node's output gets a name of its own, which add() returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dfrost {

// Tags, varints and lengths: https://protobuf.dev/programming-guides/encoding.
class ProtobufMessage {
 public:
  void add(std::uint32_t field, std::int64_t value);
  void add(std::uint32_t field, float value);
  void add(std::uint32_t field, std::string_view bytes);
  void add(std::uint32_t field, const ProtobufMessage& message) { add(field, message.bytes()); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value);
  std::string bytes_;
};

struct OnnxAttribute {
  std::string_view name;
  std::vector<std::int64_t> integers = {};  // one: a number; more: a list
  float number = 0;                         // where there are no integers
  bool is_list = false;
};

class OnnxGraph {
 public:
  using Sizes = std::vector<std::int64_t>;

  // A dimension of -1 is the batch.
  void add_input(const std::string& name, const Sizes& shape);
  void add_output(const std::string& name, const Sizes& shape);

  std::string constant(const std::string& name, const Sizes& shape, std::span<const float> values);
  std::string constant(const std::string& name, const Sizes& shape, std::span<const std::int64_t> values);

  // Returns what its one output is called: `output`, or a name that is made up.
  std::string add(std::string_view op, const std::vector<std::string>& inputs,
                  const std::vector<OnnxAttribute>& attributes = {}, std::string output = {});

  // The whole model's bytes. Throws (unimplemented) beyond the 2 GB that a protobuf message may have.
  std::string model(const std::map<std::string, std::string>& metadata) const;

 private:
  ProtobufMessage graph_;
  std::size_t nodes_ = 0;
};

}  // namespace dfrost

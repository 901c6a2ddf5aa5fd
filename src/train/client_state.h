// What a client trains and exchanges, as named parts of one contiguous fp32 buffer: optimizers, SAM, averages
// and checkpoints work on the whole span, heads and merges on the parts. Gradients have the same layout, and
// so has what its optimizer remembers, which is the client's own. Parts:
//   prompt_embeddings [pool, d] unless there are none; head.I.weight [outputs, inputs], head.I.bias
//   [outputs], I = 0, 1, … pool.projection [d, d], pool.keys [pool, d]: with a pool, the second where keys
//   are separate
// The first values depend on the seed, the part and, for independent prompts, the client: never on order.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/safetensors.h"
#include "base/tensor.h"
#include "dfrost/matrix_view.h"
#include "train/adapter.h"
#include "train/optimizer.h"

namespace dfrost {

inline constexpr std::string_view kPromptPart = "prompt_embeddings";
inline constexpr std::string_view kProjectionPart = "pool.projection";
inline constexpr std::string_view kKeysPart = "pool.keys";

class StateLayout {
 public:
  struct Part {
    std::string name;
    Shape shape;  // one or two dimensions
    std::size_t offset = 0;
    std::size_t size = 0;
    bool operator==(const Part&) const = default;
  };

  void add(std::string name, Shape shape);
  const std::vector<Part>& parts() const { return parts_; }
  std::size_t size() const { return size_; }
  bool contains(std::string_view name) const;
  const Part& at(std::string_view name) const;  // throws (not_found) when absent
  bool operator==(const StateLayout&) const = default;

 private:
  std::vector<Part> parts_;
  std::size_t size_ = 0;
};

// The part `name` of values laid out by `layout`: a state's, or a gradient's. A vector is one row.
template <typename T>
MatrixView<T> part_of(const StateLayout& layout, std::span<T> values, std::string_view name) {
  const auto& part = layout.at(name);
  return {values.data() + part.offset, part.shape.size() == 1 ? 1 : part.shape.front(), part.shape.back()};
}

struct ClientState {
  StateLayout layout;
  std::vector<float> values;
  OptimizerState optimizer = {};  // with OptimizerMemory::kept, once it has trained; else empty

  MatrixView<const float> part(std::string_view name) const {
    return part_of(layout, std::span(values), name);
  }
  MatrixView<float> part(std::string_view name) { return part_of(layout, std::span(values), name); }
  // Empty where there are none.
  MatrixView<const float> prompts() const {
    return layout.contains(kPromptPart) ? part(kPromptPart) : MatrixView<const float>();
  }
  MatrixView<float> prompts() {
    return layout.contains(kPromptPart) ? part(kPromptPart) : MatrixView<float>();
  }
};

StateLayout layout_of(const AdapterOptions& adapter, const Geometry& geometry);

// Prompts and keys uniform in ±sqrt(6 / (3·patch² + d)); each linear map and its bias uniform in
// ±1/sqrt(inputs), as PyTorch has it, and the same at all clients.
ClientState make_client_state(const AdapterOptions& adapter, const Geometry& geometry, Seed seed,
                              std::uint64_t client);

// Makes room for another number of prompts, with their keys where they are separate: the first ones stay, new
// ones are zero, and adapter and state still fit each other. An optimizer forgets what it remembers.
void resize_prompts(std::size_t prompts, AdapterOptions& adapter, ClientState& state);

// Throws (failed_precondition) unless the state is laid out as this adapter around this model is.
void require_fit(const ClientState& state, const AdapterOptions& adapter, const Geometry& geometry);

// The parts as tensors to be written; they point into the state.
std::vector<FloatTensor> tensors_of(const ClientState& state);

// Fills a state of known layout from a file or message. Throws (data_loss) where a part is missing, has
// another shape, or holds something that is not a finite number; the state is then unchanged.
void read_state(const Safetensors& tensors, ClientState& state);

}  // namespace dfrost

#include "train/client_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/finite.h"
#include "dfrost/error.h"
#include "train/head.h"

namespace dfrost {
namespace {

void fill_uniform(double bound, RandomStream stream, std::span<float> values) {
  for (float& value : values) value = static_cast<float>(stream.uniform(-bound, bound));
}

}  // namespace

void StateLayout::add(std::string name, Shape shape) {
  const std::size_t size = *element_count(shape);
  parts_.push_back({std::move(name), std::move(shape), size_, size});
  size_ += size;
}

bool StateLayout::contains(std::string_view name) const {
  return std::ranges::find(parts_, name, &Part::name) != parts_.end();
}

const StateLayout::Part& StateLayout::at(std::string_view name) const {
  const auto found = std::ranges::find(parts_, name, &Part::name);
  if (found == parts_.end())
    throw Error(ErrorCode::not_found, fmt::format("this client has no part '{}'", name));
  return *found;
}

StateLayout layout_of(const AdapterOptions& adapter, const Geometry& geometry) {
  adapter.validate(geometry);
  const std::size_t pool = adapter.prompts.held(), width = geometry.width;
  StateLayout layout;
  if (pool > 0) layout.add(std::string(kPromptPart), {pool, width});
  if (adapter.prompts.selects()) {
    layout.add(std::string(kProjectionPart), {width, width});
    if (adapter.prompts.keys == PoolKeys::separate) layout.add(std::string(kKeysPart), {pool, width});
  }
  const auto layers = head_layers(adapter.head, geometry);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layout.add(head_weight_name(i), {layers[i].outputs, layers[i].inputs});
    layout.add(head_bias_name(i), {layers[i].outputs});
  }
  return layout;
}

ClientState make_client_state(const AdapterOptions& adapter, const Geometry& geometry, Seed seed,
                              std::uint64_t client) {
  ClientState state{.layout = layout_of(adapter, geometry), .values = {}};
  state.values.resize(state.layout.size());
  const double prompt_bound = std::sqrt(6.0 / static_cast<double>(geometry.patch_values() + geometry.width));
  std::size_t inputs = 0;  // of the linear map whose weight came last; its bias follows it
  for (const auto& part : state.layout.parts()) {
    const auto values = std::span(state.values).subspan(part.offset, part.size);
    if (part.shape.size() == 2) inputs = part.shape[1];
    if (part.name == kPromptPart && adapter.prompts.init == PromptInit::independent) {
      fill_uniform(prompt_bound, RandomStream(seed, "prompts of a client", client), values);
    } else {
      const bool token = part.name == kPromptPart || part.name == kKeysPart;
      fill_uniform(token ? prompt_bound : 1.0 / std::sqrt(static_cast<double>(inputs)),
                   RandomStream(seed, fmt::format("initial {}", part.name)), values);
    }
  }
  return state;
}

void resize_prompts(std::size_t prompts, AdapterOptions& adapter, ClientState& state) {
  if (prompts == state.prompts().rows()) return;
  (adapter.prompts.selects() ? adapter.prompts.pool : adapter.prompts.count) = prompts;
  StateLayout layout;
  std::vector<float> values;
  for (const auto& part : state.layout.parts()) {
    Shape shape = part.shape;
    if (part.name == kPromptPart || part.name == kKeysPart) shape.front() = prompts;
    layout.add(part.name, shape);
    const auto own =
        std::span(state.values).subspan(part.offset, std::min(part.size, layout.parts().back().size));
    values.insert(values.end(), own.begin(), own.end());
    values.resize(layout.size(), 0.0f);
  }
  state = {.layout = std::move(layout), .values = std::move(values)};
}

void require_fit(const ClientState& state, const AdapterOptions& adapter, const Geometry& geometry) {
  if (state.layout != layout_of(adapter, geometry) || state.values.size() != state.layout.size())
    throw Error(ErrorCode::failed_precondition, "the client's state was not made for this adapter");
}

std::vector<FloatTensor> tensors_of(const ClientState& state) {
  std::vector<FloatTensor> tensors;
  for (const auto& part : state.layout.parts())
    tensors.push_back({part.name, part.shape, std::span(state.values).subspan(part.offset, part.size)});
  return tensors;
}

void read_state(const Safetensors& tensors, ClientState& state) {
  std::vector<float> values(state.layout.size());
  for (const auto& part : state.layout.parts()) {
    const auto found = tensors.tensors.find(part.name);
    if (found == tensors.tensors.end())
      throw Error(ErrorCode::data_loss, fmt::format("tensor '{}' is missing", part.name));
    if (found->second.shape != part.shape)
      throw Error(ErrorCode::data_loss, fmt::format("tensor '{}' is {}, expected {}", part.name,
                                                    to_string(found->second.shape), to_string(part.shape)));
    const auto own = std::span(values).subspan(part.offset, part.size);
    read_floats(found->second, part.name, own);
    if (!all_finite(own))
      throw Error(ErrorCode::data_loss,
                  fmt::format("tensor '{}' holds something that is not a finite number", part.name));
  }
  state.values = std::move(values);
}

}  // namespace dfrost
